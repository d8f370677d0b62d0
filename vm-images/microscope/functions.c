/* SPDX-License-Identifier: GPL-2.0-or-later */
/* functions.c - strict parsers of the plugin's arguments and the functions file. */
#include "functions.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

typedef struct {
    Functions *functions;
    char *sentence;
    unsigned int line;
    char operation[FUNCTIONS_MAX_NAME];
    char until[FUNCTIONS_MAX_NAME];
} Parser;

__attribute__((format(printf, 2, 3))) static bool refuse(char *sentence, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(sentence, SENTENCE_BYTES, format, args);
    va_end(args);
    return false;
}

static bool is_name(const char *text)
{
    size_t length = strlen(text);

    for (const char *at = text; *at; at++) {
        if (!isalnum((unsigned char)*at) && !strchr("_.$", *at)) {
            return false;
        }
    }
    return length > 0 && length < FUNCTIONS_MAX_NAME;
}

static bool read_hex(const char *text, uint64_t *value)
{
    char *end;

    if (strlen(text) > 16 || !isxdigit((unsigned char)text[0])) {
        return false;
    }
    *value = strtoull(text, &end, 16);
    return *end == '\0' && text[1] != 'x' && text[1] != 'X';
}

static int find_name(const Functions *functions, const char *name)
{
    for (unsigned int i = 0; i < functions->count; i++) {
        if (!strcmp(functions->names[i], name)) {
            return (int)i;
        }
    }
    return -1;
}

static bool add_function(Parser *parser, const char *name, const char *low, const char *high)
{
    Functions *functions = parser->functions;
    Range range;

    if (!is_name(name) || !read_hex(low, &range.low) || !read_hex(high, &range.high)) {
        return refuse(parser->sentence, "line %u is not `function NAME LOW HIGH` with hex numbers.",
                      parser->line);
    }
    if (range.low >= range.high) {
        return refuse(parser->sentence, "the range of %s in line %u is empty.", name, parser->line);
    }
    if (functions->n_ranges == FUNCTIONS_MAX_RANGES) {
        return refuse(parser->sentence, "there are more than %d ranges.", FUNCTIONS_MAX_RANGES);
    }
    int index = find_name(functions, name);
    if (index < 0) {
        if (functions->count == FUNCTIONS_MAX) {
            return refuse(parser->sentence, "there are more than %d functions.", FUNCTIONS_MAX);
        }
        index = (int)functions->count++;
        strcpy(functions->names[index], name);
        functions->entries[index] = range.low;
    }
    range.function = (unsigned int)index;
    functions->ranges[functions->n_ranges++] = range;
    if (range.high - range.low > FUNCTIONS_WIDE) {
        snprintf(functions->remark, SENTENCE_BYTES,
                 "%s is %llu KiB wide; every access of all that code is counted, which is slow.",
                 name, (unsigned long long)(range.high - range.low) >> 10);
    }
    return true;
}

/* Split @line into words in place; return their number, at most @room. */
static size_t cut_words(char *line, char **words, size_t room)
{
    size_t count = 0;
    char *rest = line;
    char *word;

    while (count < room && (word = strsep(&rest, " "))) {
        words[count++] = word;
    }
    return count;
}

static bool take_line(Parser *parser, char *line)
{
    Functions *functions = parser->functions;
    char *words[5];
    size_t count = cut_words(line, words, 5);

    if (parser->line == 1) {
        if (count == 2 && !strcmp(words[0], "microscope") && !strcmp(words[1], "1")) {
            return true;
        }
        return refuse(parser->sentence, "the functions file does not begin with `microscope 1`.");
    }
    if (count == 4 && !strcmp(words[0], "function")) {
        return add_function(parser, words[1], words[2], words[3]);
    }
    if (count == 2 && !strcmp(words[0], "operation") && is_name(words[1]) &&
        !parser->operation[0]) {
        strcpy(parser->operation, words[1]);
        return true;
    }
    if (count == 2 && !strcmp(words[0], "until") && is_name(words[1]) && !parser->until[0]) {
        strcpy(parser->until, words[1]);
        return true;
    }
    if (count == 2 && !strcmp(words[0], "switch") && !functions->switch_at &&
        read_hex(words[1], &functions->switch_at) && functions->switch_at) {
        return true;
    }
    return refuse(parser->sentence,
                  "line %u (%.40s) is no `function NAME LOW HIGH`, and no first `operation NAME`, "
                  "`until NAME` or `switch ADDRESS`.",
                  parser->line, words[0]);
}

static int by_address(const void *one, const void *two)
{
    const Range *a = one;
    const Range *b = two;

    return (a->low > b->low) - (a->low < b->low);
}

/* Look up the function @name (-1 if empty); false if there is no such function. */
static bool take_end(Parser *parser, const char *what, const char *name, int *function)
{
    *function = name[0] ? find_name(parser->functions, name) : -1;
    if (name[0] && *function < 0) {
        return refuse(parser->sentence, "the %s %s is not among the functions.", what, name);
    }
    return true;
}

static bool finish(Parser *parser)
{
    Functions *functions = parser->functions;

    if (!functions->count) {
        return refuse(parser->sentence, "the functions file names no function.");
    }
    qsort(functions->ranges, functions->n_ranges, sizeof(Range), by_address);
    for (unsigned int i = 1; i < functions->n_ranges; i++) {
        const Range *before = &functions->ranges[i - 1];
        const Range *range = &functions->ranges[i];
        if (before->high > range->low) {
            return refuse(parser->sentence, "the ranges of %s and %s overlap at %llx.",
                          functions->names[before->function], functions->names[range->function],
                          (unsigned long long)range->low);
        }
    }
    if (parser->until[0] && !parser->operation[0]) {
        return refuse(parser->sentence, "until %s ends an operation, but none is named.",
                      parser->until);
    }
    if (!take_end(parser, "operation", parser->operation, &functions->operation) ||
        !take_end(parser, "end of an operation", parser->until, &functions->until)) {
        return false;
    }
    if (functions->until < 0) {
        functions->until = functions->operation;
    }
    return true;
}

bool functions_parse(Functions *functions, const char *text, size_t length, char *sentence)
{
    Parser parser = {.functions = functions, .sentence = sentence};
    const char *end = text + length;

    memset(functions, 0, sizeof(*functions));
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        size_t bytes = (size_t)((stop ? stop : end) - text);
        char line[256];

        parser.line++;
        if (bytes >= sizeof(line) || memchr(text, '\0', bytes)) {
            return refuse(sentence, "line %u of the functions file is too long or no text.",
                          parser.line);
        }
        memcpy(line, text, bytes);
        line[bytes] = '\0';
        if (!take_line(&parser, line)) {
            return false;
        }
        text += bytes + 1;
    }
    return finish(&parser);
}

bool functions_read(Functions *functions, const char *path, char *sentence)
{
    FILE *file = fopen(path, "re");
    char *text = malloc(FUNCTIONS_MAX_TEXT + 1);
    bool good = false;

    if (!file || !text) {
        refuse(sentence, "the functions file %s cannot be read: %s.", path, strerror(errno));
    } else {
        size_t length = fread(text, 1, FUNCTIONS_MAX_TEXT + 1, file);
        if (ferror(file)) {
            refuse(sentence, "the functions file %s cannot be read: %s.", path, strerror(errno));
        } else if (length > FUNCTIONS_MAX_TEXT) {
            refuse(sentence, "the functions file %s is longer than %d bytes.", path,
                   FUNCTIONS_MAX_TEXT);
        } else {
            good = functions_parse(functions, text, length, sentence);
        }
    }
    free(text);
    if (file) {
        fclose(file);
    }
    return good;
}

int functions_find(const Functions *functions, uint64_t address)
{
    unsigned int low = 0;
    unsigned int high = functions->n_ranges;

    while (low < high) {
        unsigned int middle = (low + high) / 2;
        if (address >= functions->ranges[middle].high) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low < functions->n_ranges && address >= functions->ranges[low].low) {
        return (int)functions->ranges[low].function;
    }
    return -1;
}

bool arguments_parse(Arguments *arguments, int argc, char **argv, char *sentence)
{
    *arguments = (Arguments){0};
    for (int i = 0; i < argc; i++) {
        const char **into = NULL;
        const char *value = strchr(argv[i], '=');

        if (value && !strncmp(argv[i], "socket=", 7)) {
            into = &arguments->socket;
        } else if (value && !strncmp(argv[i], "functions=", 10)) {
            into = &arguments->functions;
        }
        if (!into || *into || !value[1]) {
            return refuse(sentence,
                          "wanted socket=PATH and functions=PATH, each once, but `%.80s` came.",
                          argv[i]);
        }
        *into = value + 1;
    }
    if (!arguments->socket || !arguments->functions) {
        return refuse(sentence, "wanted socket=PATH and functions=PATH, but %s is missing.",
                      arguments->socket ? "functions=" : "socket=");
    }
    if (strlen(arguments->socket) >= sizeof(((struct sockaddr_un *)0)->sun_path)) {
        return refuse(sentence, "the path of the socket is longer than %zu bytes.",
                      sizeof(((struct sockaddr_un *)0)->sun_path) - 1);
    }
    return true;
}
