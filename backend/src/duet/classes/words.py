# SPDX-License-Identifier: GPL-2.0-or-later
"""Codes of classes: three short words that can be read aloud across a room.

No word sounds like another word (no `sea`, `two`, `flour`), and each has three to eight letters.
331 words make 36 million codes.
"""

from __future__ import annotations

import secrets
from collections.abc import Container
from typing import Final

WORD_LIST: Final = """
    acid acorn actor album alert amber ankle apple apron arena army arrow aspen atlas attic
    autumn axis bacon badge bagel bakery bamboo banana banjo barrel basil basket beagle beaver
    bedroom bench bicycle bishop bison blanket bonus bottle bounce branch brave brick bridge
    bronze brush bubble bucket budget buffalo bundle butter button cabin cable cactus camel
    camera canal candle canoe canvas carbon carpet castle cedar celery chalk cherry chess
    chimney circle citrus clay clever cliff clock cloud clover cobalt coconut coffee comet
    copper corner cotton cousin cradle crane crater cricket crystal cube curtain cycle dance
    danger delta denim diamond dinner dolphin donkey dragon drum duck eagle early earth easel
    echo eclipse elbow ember empty engine estate evening fabric falcon famous farmer feather
    fence fern fiddle field finger flag flame flute forest fossil fox friend frost galaxy garden
    garlic ginger giraffe glacier globe glove goblet golden grape gravel guitar hammer harbor
    harvest hazel helmet hockey honey hotel hundred igloo image indigo insect island ivory
    jacket jaguar jelly jigsaw jungle kettle kidney kitchen kitten kiwi koala lagoon lake lamp
    lantern laptop lemon lentil leopard letter lizard lobster lotus lunch magnet mango maple
    marble market meadow melon middle mirror monkey mosaic motor mountain museum mushroom napkin
    narrow needle nickel noodle north ocean olive onion opera orange orbit orchid otter oven owl
    oxygen oyster paddle palace panda panther parrot pasta pebble pencil pepper piano picnic
    pigeon pillow pilot pirate planet plastic pocket poem polar pony poppy potato powder pretzel
    prism pumpkin puppet puzzle quartz rabbit radar radio raven ribbon river robin robot rocket
    ruby saddle salad salmon sample sandal saturn scarf school scooter shadow shell silver
    sister sketch slipper smooth snow sofa spider sponge spoon spring square squid stable
    sticker storm summer sunset swan table tablet tango teapot temple tennis thunder tiger
    timber tomato topaz tower tractor trumpet tulip tunnel turtle ultra umbrella unicorn valley
    vanilla velvet violet violin volcano voyage waffle walnut walrus water whisper willow window
    winter wizard wolf wonder yellow yogurt zebra zipper
"""
WORDS: Final = tuple(WORD_LIST.split())
IN_CODE: Final = 3


def new_code(taken: Container[str]) -> str:
    """A code whose squeezed form is not taken."""
    while True:
        code = "-".join(secrets.choice(WORDS) for _ in range(IN_CODE))
        if squeezed(code) not in taken:
            return code


def squeezed(code: str) -> str:
    """What two spellings of one code have in common: no case, no spaces, no hyphens."""
    return "".join(code.split()).replace("-", "").casefold()
