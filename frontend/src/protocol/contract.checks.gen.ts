// SPDX-License-Identifier: GPL-2.0-or-later
/** Generated from contract.schema.json by `make contract`. Do not edit. */

import {
  above,
  anything,
  atLeast,
  boolean,
  bytes,
  either,
  integer,
  list,
  literal,
  map,
  maybe,
  nothing,
  number,
  oneOf,
  or,
  pair,
  partial,
  shape,
  string,
  tagged,
  type Read,
} from './check.ts';
import type * as wire from './contract.gen.ts';

const Batch_type = literal('batch');

const Batch_n = atLeast(integer, 0);

const Batch_columns = map(bytes);

const Batch_dtypes_value = oneOf('f8', 'i4', 'u1', 'u4', 'i2');

const Batch_dtypes = map(Batch_dtypes_value);

const Batch_newest_event_host_ms = maybe(number);

export const readBatch: Read<wire.Batch> = shape((o) => ({
  type: Batch_type(o['type'], 'type'),
  run_id: string(o['run_id'], 'run_id'),
  arm: string(o['arm'], 'arm'),
  table: string(o['table'], 'table'),
  seq: integer(o['seq'], 'seq'),
  n: Batch_n(o['n'], 'n'),
  watermark_ns: number(o['watermark_ns'], 'watermark_ns'),
  columns: Batch_columns(o['columns'], 'columns'),
  dtypes: Batch_dtypes(o['dtypes'], 'dtypes'),
  sent_ns: number(o['sent_ns'], 'sent_ns'),
  newest_event_host_ms: or(o['newest_event_host_ms'], 'newest_event_host_ms', Batch_newest_event_host_ms, null),
}));

const Begun_type = literal('begun');

export const readBegun: Read<wire.Begun> = shape((o) => ({
  type: Begun_type(o['type'], 'type'),
  run_id: string(o['run_id'], 'run_id'),
}));

const Build_type = literal('build');

const Build_arms = list(string);

const Build_phase = oneOf('wait', 'extract', 'patch', 'config', 'compile', 'link', 'store', 'done', 'failed');

const ErrorMessage_type = literal('error');

const ErrorMessage_run = maybe(string);

export const readErrorMessage: Read<wire.ErrorMessage> = shape((o) => ({
  type: ErrorMessage_type(o['type'], 'type'),
  code: string(o['code'], 'code'),
  sentence: string(o['sentence'], 'sentence'),
  remedy: string(o['remedy'], 'remedy'),
  detail: or(o['detail'], 'detail', string, ''),
  run: or(o['run'], 'run', ErrorMessage_run, null),
}));

const Build_error = maybe(readErrorMessage);

export const readBuild: Read<wire.Build> = shape((o) => ({
  type: Build_type(o['type'], 'type'),
  lesson: string(o['lesson'], 'lesson'),
  arms: Build_arms(o['arms'], 'arms'),
  arm: string(o['arm'], 'arm'),
  phase: Build_phase(o['phase'], 'phase'),
  done: integer(o['done'], 'done'),
  total: integer(o['total'], 'total'),
  elapsed_s: number(o['elapsed_s'], 'elapsed_s'),
  message: or(o['message'], 'message', string, ''),
  error: or(o['error'], 'error', Build_error, null),
}));

const Changed_type = literal('changed');

const Changed_phase = oneOf('refused', 'wait', 'extract', 'patch', 'config', 'compile', 'link', 'store', 'built', 'failed');

const Changed_elapsed_s = atLeast(number, 0);

const Problem_line = atLeast(integer, 1);

const Problem_severity = oneOf('error', 'warning');

export const readProblem: Read<wire.Problem> = shape((o) => ({
  file: string(o['file'], 'file'),
  line: Problem_line(o['line'], 'line'),
  column: Batch_n(o['column'], 'column'),
  severity: Problem_severity(o['severity'], 'severity'),
  text: string(o['text'], 'text'),
}));

const Changed_problems = list(readProblem);

export const readChanged: Read<wire.Changed> = shape((o) => ({
  type: Changed_type(o['type'], 'type'),
  lesson: string(o['lesson'], 'lesson'),
  base: string(o['base'], 'base'),
  arm: string(o['arm'], 'arm'),
  phase: Changed_phase(o['phase'], 'phase'),
  ahead: or(o['ahead'], 'ahead', Batch_n, 0),
  done: or(o['done'], 'done', Batch_n, 0),
  total: or(o['total'], 'total', Batch_n, 0),
  elapsed_s: or(o['elapsed_s'], 'elapsed_s', Changed_elapsed_s, 0),
  message: or(o['message'], 'message', string, ''),
  error: or(o['error'], 'error', Build_error, null),
  problems: or(o['problems'], 'problems', Changed_problems, []),
}));

const ClassState_type = literal('class');

const ClassState_part = oneOf('instructor', 'member');

export const readClassState: Read<wire.ClassState> = shape((o) => ({
  type: ClassState_type(o['type'], 'type'),
  class_id: string(o['class_id'], 'class_id'),
  title: string(o['title'], 'title'),
  lesson: string(o['lesson'], 'lesson'),
  code: string(o['code'], 'code'),
  link: string(o['link'], 'link'),
  open: boolean(o['open'], 'open'),
  part: ClassState_part(o['part'], 'part'),
  driving: boolean(o['driving'], 'driving'),
  driver: string(o['driver'], 'driver'),
  driver_member: string(o['driver_member'], 'driver_member'),
  members: integer(o['members'], 'members'),
  connected: integer(o['connected'], 'connected'),
}));

const ClassAnswered_type = literal('class_answered');

const ClassAnswered_choice = maybe(integer);

const Pointed_row = maybe(Batch_n);

const Pointed_t_ns_one = atLeast(number, -1000000000000000000);

const Pointed_t_ns = maybe(Pointed_t_ns_one);

export const readPointed: Read<wire.Pointed> = shape((o) => ({
  x: Changed_elapsed_s(o['x'], 'x'),
  y: Changed_elapsed_s(o['y'], 'y'),
  arm: or(o['arm'], 'arm', string, ''),
  row: or(o['row'], 'row', Pointed_row, null),
  t_ns: or(o['t_ns'], 't_ns', Pointed_t_ns, null),
}));

const ClassAnswered_mark = maybe(readPointed);

export const readClassAnswered: Read<wire.ClassAnswered> = shape((o) => ({
  type: ClassAnswered_type(o['type'], 'type'),
  class_id: string(o['class_id'], 'class_id'),
  step: string(o['step'], 'step'),
  question: string(o['question'], 'question'),
  round: Problem_line(o['round'], 'round'),
  choice: ClassAnswered_choice(o['choice'], 'choice'),
  value: Batch_newest_event_host_ms(o['value'], 'value'),
  mark: ClassAnswered_mark(o['mark'], 'mark'),
}));

const ClassConfusion_type = literal('class_confusion');

export const readConfusion: Read<wire.Confusion> = shape((o) => ({
  at_s: integer(o['at_s'], 'at_s'),
  count: integer(o['count'], 'count'),
  step: string(o['step'], 'step'),
}));

const ClassConfusion_points = list(readConfusion);

export const readClassConfusion: Read<wire.ClassConfusion> = shape((o) => ({
  type: ClassConfusion_type(o['type'], 'type'),
  class_id: string(o['class_id'], 'class_id'),
  points: ClassConfusion_points(o['points'], 'points'),
}));

const ClassOpened_type = literal('class_opened');

export const readOpenedStep: Read<wire.OpenedStep> = shape((o) => ({
  lesson: string(o['lesson'], 'lesson'),
  step: string(o['step'], 'step'),
  patches: boolean(o['patches'], 'patches'),
}));

const ClassOpened_steps = list(readOpenedStep);

export const readClassOpened: Read<wire.ClassOpened> = shape((o) => ({
  type: ClassOpened_type(o['type'], 'type'),
  class_id: string(o['class_id'], 'class_id'),
  steps: ClassOpened_steps(o['steps'], 'steps'),
  gallery: boolean(o['gallery'], 'gallery'),
  no_runs: string(o['no_runs'], 'no_runs'),
  no_patches: string(o['no_patches'], 'no_patches'),
}));

const ClassOwn_type = literal('class_own');

export const readRaised: Read<wire.Raised> = shape((o) => ({
  number: integer(o['number'], 'number'),
  step: string(o['step'], 'step'),
  text: string(o['text'], 'text'),
  votes: integer(o['votes'], 'votes'),
  answered: boolean(o['answered'], 'answered'),
  hidden: boolean(o['hidden'], 'hidden'),
}));

const ClassOwn_asked = list(readRaised);

const ClassOwn_voted = list(integer);

export const readClassOwn: Read<wire.ClassOwn> = shape((o) => ({
  type: ClassOwn_type(o['type'], 'type'),
  class_id: string(o['class_id'], 'class_id'),
  asked: ClassOwn_asked(o['asked'], 'asked'),
  voted: ClassOwn_voted(o['voted'], 'voted'),
}));

const ClassPlace_mode = oneOf('play', 'paused', 'scope');

const ClassPlace_direction = atLeast(integer, -1);

const ClassPlace_speed_one = above(number, 0);

const ClassPlace_speed = maybe(ClassPlace_speed_one);

const ClassPlace_type = literal('class_place');

export const readSpot: Read<wire.Spot> = shape((o) => ({
  arm: string(o['arm'], 'arm'),
  row: or(o['row'], 'row', Pointed_row, null),
  t_ns: or(o['t_ns'], 't_ns', Pointed_t_ns, null),
}));

const ClassPlace_spotlight = maybe(readSpot);

export const readClassPlace: Read<wire.ClassPlace> = shape((o) => ({
  lesson: string(o['lesson'], 'lesson'),
  step: or(o['step'], 'step', string, ''),
  place: or(o['place'], 'place', string, ''),
  moment_ns: or(o['moment_ns'], 'moment_ns', Pointed_t_ns, null),
  mode: or(o['mode'], 'mode', ClassPlace_mode, 'paused'),
  direction: or(o['direction'], 'direction', ClassPlace_direction, 1),
  speed: or(o['speed'], 'speed', ClassPlace_speed, null),
  type: ClassPlace_type(o['type'], 'type'),
  spotlight: or(o['spotlight'], 'spotlight', ClassPlace_spotlight, null),
  class_id: string(o['class_id'], 'class_id'),
  number: integer(o['number'], 'number'),
  age_s: or(o['age_s'], 'age_s', Changed_elapsed_s, 0),
  sent_ns: or(o['sent_ns'], 'sent_ns', number, 0),
}));

const ClassQuestion_type = literal('class_question');

export const readClassQuestion: Read<wire.ClassQuestion> = shape((o) => ({
  type: ClassQuestion_type(o['type'], 'type'),
  class_id: string(o['class_id'], 'class_id'),
  step: string(o['step'], 'step'),
  question: string(o['question'], 'question'),
  text: string(o['text'], 'text'),
  options: Build_arms(o['options'], 'options'),
  round: Problem_line(o['round'], 'round'),
  revealed: boolean(o['revealed'], 'revealed'),
}));

const ClassRaised_type = literal('class_raised');

export const readClassRaised: Read<wire.ClassRaised> = shape((o) => ({
  type: ClassRaised_type(o['type'], 'type'),
  class_id: string(o['class_id'], 'class_id'),
  shown: boolean(o['shown'], 'shown'),
  questions: ClassOwn_asked(o['questions'], 'questions'),
}));

const ClassRoster_type = literal('class_roster');

export const readRosterMember: Read<wire.RosterMember> = shape((o) => ({
  member: string(o['member'], 'member'),
  name: string(o['name'], 'name'),
  connected: boolean(o['connected'], 'connected'),
  following: boolean(o['following'], 'following'),
  step: string(o['step'], 'step'),
  idle_s: number(o['idle_s'], 'idle_s'),
  driving: boolean(o['driving'], 'driving'),
  answered: integer(o['answered'], 'answered'),
}));

const ClassRoster_members = list(readRosterMember);

export const readClassRoster: Read<wire.ClassRoster> = shape((o) => ({
  type: ClassRoster_type(o['type'], 'type'),
  class_id: string(o['class_id'], 'class_id'),
  members: ClassRoster_members(o['members'], 'members'),
}));

const ClassSeen_type = literal('class_seen');

export const readClassSeen: Read<wire.ClassSeen> = shape((o) => ({
  lesson: string(o['lesson'], 'lesson'),
  step: or(o['step'], 'step', string, ''),
  place: or(o['place'], 'place', string, ''),
  moment_ns: or(o['moment_ns'], 'moment_ns', Pointed_t_ns, null),
  mode: or(o['mode'], 'mode', ClassPlace_mode, 'paused'),
  direction: or(o['direction'], 'direction', ClassPlace_direction, 1),
  speed: or(o['speed'], 'speed', ClassPlace_speed, null),
  type: ClassSeen_type(o['type'], 'type'),
  class_id: string(o['class_id'], 'class_id'),
  member: string(o['member'], 'member'),
  number: integer(o['number'], 'number'),
  age_s: or(o['age_s'], 'age_s', Changed_elapsed_s, 0),
  sent_ns: or(o['sent_ns'], 'sent_ns', number, 0),
}));

const ClassTally_type = literal('class_tally');

export const readBar: Read<wire.Bar> = shape((o) => ({
  choice: ClassAnswered_choice(o['choice'], 'choice'),
  value: Batch_newest_event_host_ms(o['value'], 'value'),
  count: integer(o['count'], 'count'),
}));

const TallyRound_bars = list(readBar);

const TallyRound_marks = list(readPointed);

export const readTallyRound: Read<wire.TallyRound> = shape((o) => ({
  round: Problem_line(o['round'], 'round'),
  answers: integer(o['answers'], 'answers'),
  bars: TallyRound_bars(o['bars'], 'bars'),
  marks: TallyRound_marks(o['marks'], 'marks'),
  right: ClassAnswered_choice(o['right'], 'right'),
}));

const ClassTally_rounds = list(readTallyRound);

export const readClassTally: Read<wire.ClassTally> = shape((o) => ({
  type: ClassTally_type(o['type'], 'type'),
  class_id: string(o['class_id'], 'class_id'),
  step: string(o['step'], 'step'),
  question: string(o['question'], 'question'),
  revealed: boolean(o['revealed'], 'revealed'),
  rounds: ClassTally_rounds(o['rounds'], 'rounds'),
}));

const ClassTimer_type = literal('class_timer');

export const readClassTimer: Read<wire.ClassTimer> = shape((o) => ({
  type: ClassTimer_type(o['type'], 'type'),
  class_id: string(o['class_id'], 'class_id'),
  length_s: number(o['length_s'], 'length_s'),
  ends_ns: Batch_newest_event_host_ms(o['ends_ns'], 'ends_ns'),
  sent_ns: number(o['sent_ns'], 'sent_ns'),
}));

const ClassTries_type = literal('class_tries');

export const readMaker: Read<wire.Maker> = shape((o) => ({
  member: string(o['member'], 'member'),
  name: string(o['name'], 'name'),
}));

const ClassTry_makers = list(readMaker);

const ClassTry_params = map(integer);

const ClassTry_clock = oneOf('wall', 'count');

const ClassTry_state = oneOf('waiting', 'running', 'done', 'failed');

const TryResult_better = oneOf('higher', 'lower', 'neither');

export const readTryLane: Read<wire.TryLane> = shape((o) => ({
  arm: string(o['arm'], 'arm'),
  title: string(o['title'], 'title'),
  value: number(o['value'], 'value'),
}));

const TryResult_lanes = list(readTryLane);

export const readTryResult: Read<wire.TryResult> = shape((o) => ({
  title: string(o['title'], 'title'),
  unit: string(o['unit'], 'unit'),
  better: TryResult_better(o['better'], 'better'),
  lanes: TryResult_lanes(o['lanes'], 'lanes'),
  ratio: Batch_newest_event_host_ms(o['ratio'], 'ratio'),
}));

const ClassTry_result = maybe(readTryResult);

export const readClassTry: Read<wire.ClassTry> = shape((o) => ({
  number: integer(o['number'], 'number'),
  lesson: string(o['lesson'], 'lesson'),
  step: string(o['step'], 'step'),
  makers: ClassTry_makers(o['makers'], 'makers'),
  arms: Build_arms(o['arms'], 'arms'),
  params: ClassTry_params(o['params'], 'params'),
  turned: ClassTry_params(o['turned'], 'turned'),
  workload: string(o['workload'], 'workload'),
  clock: ClassTry_clock(o['clock'], 'clock'),
  summary: string(o['summary'], 'summary'),
  run: string(o['run'], 'run'),
  state: ClassTry_state(o['state'], 'state'),
  place: ClassAnswered_choice(o['place'], 'place'),
  estimate_s: Batch_newest_event_host_ms(o['estimate_s'], 'estimate_s'),
  sentence: string(o['sentence'], 'sentence'),
  result: ClassTry_result(o['result'], 'result'),
}));

const ClassTries_tries = list(readClassTry);

export const readClassTries: Read<wire.ClassTries> = shape((o) => ({
  type: ClassTries_type(o['type'], 'type'),
  class_id: string(o['class_id'], 'class_id'),
  tries: ClassTries_tries(o['tries'], 'tries'),
}));

const ClassWatched_type = literal('class_watched');

const ClassWatched_phase = oneOf('none', 'asking', 'watched');

const ClassWatched_allowed = maybe(boolean);

export const readClassWatched: Read<wire.ClassWatched> = shape((o) => ({
  type: ClassWatched_type(o['type'], 'type'),
  class_id: string(o['class_id'], 'class_id'),
  phase: ClassWatched_phase(o['phase'], 'phase'),
  allowed: ClassWatched_allowed(o['allowed'], 'allowed'),
}));

const ClassWatching_type = literal('class_watching');

const ClassWatching_phase = oneOf('none', 'asking', 'watched', 'refused', 'away');

export const readClassWatching: Read<wire.ClassWatching> = shape((o) => ({
  type: ClassWatching_type(o['type'], 'type'),
  class_id: string(o['class_id'], 'class_id'),
  member: string(o['member'], 'member'),
  name: string(o['name'], 'name'),
  phase: ClassWatching_phase(o['phase'], 'phase'),
}));

const ClassWelcome_type = literal('class_welcome');

export const readClassWelcome: Read<wire.ClassWelcome> = shape((o) => ({
  type: ClassWelcome_type(o['type'], 'type'),
  class_id: string(o['class_id'], 'class_id'),
  part: ClassState_part(o['part'], 'part'),
  member: string(o['member'], 'member'),
  name: string(o['name'], 'name'),
  secret: string(o['secret'], 'secret'),
}));

const Control_type = literal('control');

const Control_by = oneOf('you', 'other', 'nobody');

export const readControl: Read<wire.Control> = shape((o) => ({
  type: Control_type(o['type'], 'type'),
  run_id: string(o['run_id'], 'run_id'),
  by: Control_by(o['by'], 'by'),
  may_take: boolean(o['may_take'], 'may_take'),
  yours: boolean(o['yours'], 'yours'),
}));

const Gap_type = literal('gap');

export const readGap: Read<wire.Gap> = shape((o) => ({
  type: Gap_type(o['type'], 'type'),
  run_id: string(o['run_id'], 'run_id'),
  arm: string(o['arm'], 'arm'),
  table: string(o['table'], 'table'),
  from_seq: integer(o['from_seq'], 'from_seq'),
  to_seq: integer(o['to_seq'], 'to_seq'),
  rows: integer(o['rows'], 'rows'),
}));

const Heartbeat_type = literal('heartbeat');

export const readHeartbeat: Read<wire.Heartbeat> = shape((o) => ({
  type: Heartbeat_type(o['type'], 'type'),
}));

const Held_type = literal('held');

const Held_phase = oneOf('waiting', 'held', 'going');

export const readHeld: Read<wire.Held> = shape((o) => ({
  type: Held_type(o['type'], 'type'),
  run_id: string(o['run_id'], 'run_id'),
  arm: string(o['arm'], 'arm'),
  phase: Held_phase(o['phase'], 'phase'),
  after: integer(o['after'], 'after'),
  asked: ClassAnswered_choice(o['asked'], 'asked'),
  stood: ClassAnswered_choice(o['stood'], 'stood'),
  message: or(o['message'], 'message', string, ''),
}));

const Hello_type = literal('hello');

const Hello_role = oneOf('viewer', 'student', 'instructor', 'operator');

const Hello_denied_key = oneOf('watch', 'run', 'change', 'answer', 'control_others', 'teach', 'measure', 'delete_others');

const Hello_denied = partial(Hello_denied_key, string);

export const readLessonCard: Read<wire.LessonCard> = shape((o) => ({
  slug: string(o['slug'], 'slug'),
  title: string(o['title'], 'title'),
  question: string(o['question'], 'question'),
  available: boolean(o['available'], 'available'),
  picture: boolean(o['picture'], 'picture'),
}));

const Hello_lessons = list(readLessonCard);

export const readHello: Read<wire.Hello> = shape((o) => ({
  type: Hello_type(o['type'], 'type'),
  protocol: or(o['protocol'], 'protocol', integer, 3),
  version: string(o['version'], 'version'),
  viewer: string(o['viewer'], 'viewer'),
  live: or(o['live'], 'live', boolean, true),
  role: or(o['role'], 'role', Hello_role, 'operator'),
  denied: or(o['denied'], 'denied', Hello_denied, {}),
  lessons: Hello_lessons(o['lessons'], 'lessons'),
}));

const Judged_type = literal('judged');

const Judged_phase = oneOf('waiting', 'measuring', 'building', 'stress', 'done', 'failed');

const JudgedLine_kind = oneOf('goal', 'rule', 'without', 'order', 'stress');

export const readJudgedLine: Read<wire.JudgedLine> = shape((o) => ({
  kind: JudgedLine_kind(o['kind'], 'kind'),
  says: string(o['says'], 'says'),
  wanted: string(o['wanted'], 'wanted'),
  found: string(o['found'], 'found'),
  holds: ClassWatched_allowed(o['holds'], 'holds'),
}));

const Judged_lines = list(readJudgedLine);

export const readJudged: Read<wire.Judged> = shape((o) => ({
  type: Judged_type(o['type'], 'type'),
  lesson: string(o['lesson'], 'lesson'),
  challenge: string(o['challenge'], 'challenge'),
  arm: string(o['arm'], 'arm'),
  phase: Judged_phase(o['phase'], 'phase'),
  done: or(o['done'], 'done', Batch_n, 0),
  total: or(o['total'], 'total', Batch_n, 0),
  met: or(o['met'], 'met', ClassWatched_allowed, null),
  because: or(o['because'], 'because', string, ''),
  lines: or(o['lines'], 'lines', Judged_lines, []),
  error: or(o['error'], 'error', Build_error, null),
}));

const Lane_type = literal('lane');

const Lane_phase = oneOf('waiting', 'building', 'booting', 'ready', 'running', 'draining', 'done', 'stopped', 'failed');

export const readContention: Read<wire.Contention> = shape((o) => ({
  ran_s: Changed_elapsed_s(o['ran_s'], 'ran_s'),
  waited_s: Changed_elapsed_s(o['waited_s'], 'waited_s'),
  bound: number(o['bound'], 'bound'),
}));

const Lane_contention = maybe(readContention);

export const readLane: Read<wire.Lane> = shape((o) => ({
  type: Lane_type(o['type'], 'type'),
  run_id: string(o['run_id'], 'run_id'),
  arm: string(o['arm'], 'arm'),
  phase: Lane_phase(o['phase'], 'phase'),
  message: or(o['message'], 'message', string, ''),
  remedy: or(o['remedy'], 'remedy', string, ''),
  detail: or(o['detail'], 'detail', string, ''),
  accel: or(o['accel'], 'accel', ErrorMessage_run, null),
  pid: or(o['pid'], 'pid', ClassAnswered_choice, null),
  kernel: or(o['kernel'], 'kernel', ErrorMessage_run, null),
  boot_s: or(o['boot_s'], 'boot_s', Batch_newest_event_host_ms, null),
  cloned: or(o['cloned'], 'cloned', boolean, false),
  contention: or(o['contention'], 'contention', Lane_contention, null),
}));

const Lens_type = literal('lens');

const Lens_lens = oneOf('xray', 'microscope');

const Lens_state = oneOf('off', 'attaching', 'on', 'failed');

const Lens_route = oneOf('memory', 'qmp', 'unknown');

export const readLens: Read<wire.Lens> = shape((o) => ({
  type: Lens_type(o['type'], 'type'),
  run_id: string(o['run_id'], 'run_id'),
  arm: string(o['arm'], 'arm'),
  lens: or(o['lens'], 'lens', Lens_lens, 'xray'),
  state: Lens_state(o['state'], 'state'),
  route: Lens_route(o['route'], 'route'),
  message: or(o['message'], 'message', string, ''),
  remedy: or(o['remedy'], 'remedy', string, ''),
  samples: integer(o['samples'], 'samples'),
  torn: integer(o['torn'], 'torn'),
  failed: integer(o['failed'], 'failed'),
  dropped: integer(o['dropped'], 'dropped'),
}));

const LessonMessage_type = literal('lesson');

const LessonMessage_lesson = map(anything);

export const readLessonMessage: Read<wire.LessonMessage> = shape((o) => ({
  type: LessonMessage_type(o['type'], 'type'),
  lesson: LessonMessage_lesson(o['lesson'], 'lesson'),
}));

const Line_type = literal('line');

const Line_stream = oneOf('out', 'err');

export const readLine: Read<wire.Line> = shape((o) => ({
  type: Line_type(o['type'], 'type'),
  run_id: string(o['run_id'], 'run_id'),
  arm: string(o['arm'], 'arm'),
  stream: Line_stream(o['stream'], 'stream'),
  text: string(o['text'], 'text'),
  t_ns: number(o['t_ns'], 't_ns'),
}));

const Loss_type = literal('loss');

const Loss_where = oneOf('ring buffer', 'kprobe', 'host');

export const readLoss: Read<wire.Loss> = shape((o) => ({
  type: Loss_type(o['type'], 'type'),
  run_id: string(o['run_id'], 'run_id'),
  arm: string(o['arm'], 'arm'),
  t0_ns: number(o['t0_ns'], 't0_ns'),
  t1_ns: number(o['t1_ns'], 't1_ns'),
  events: ClassAnswered_choice(o['events'], 'events'),
  where: Loss_where(o['where'], 'where'),
}));

const Measured_source = oneOf('live', 'recorded');

const MeasuredRow_ops_per_s = list(number);

export const readMeasuredRow: Read<wire.MeasuredRow> = shape((o) => ({
  arm: string(o['arm'], 'arm'),
  n: integer(o['n'], 'n'),
  ops_per_s_median: Batch_newest_event_host_ms(o['ops_per_s_median'], 'ops_per_s_median'),
  ops_per_s_mean: or(o['ops_per_s_mean'], 'ops_per_s_mean', Batch_newest_event_host_ms, null),
  ops_per_s_low: or(o['ops_per_s_low'], 'ops_per_s_low', Batch_newest_event_host_ms, null),
  ops_per_s_high: or(o['ops_per_s_high'], 'ops_per_s_high', Batch_newest_event_host_ms, null),
  ops_per_s: MeasuredRow_ops_per_s(o['ops_per_s'], 'ops_per_s'),
  unit: or(o['unit'], 'unit', string, 'ops/s'),
  to: or(o['to'], 'to', ErrorMessage_run, null),
  change_percent: or(o['change_percent'], 'change_percent', Batch_newest_event_host_ms, null),
  verdict: or(o['verdict'], 'verdict', string, ''),
  perturbed: or(o['perturbed'], 'perturbed', MeasuredRow_ops_per_s, []),
}));

const Measured_rows = list(readMeasuredRow);

export const readMadePatch: Read<wire.MadePatch> = shape((o) => ({
  path: string(o['path'], 'path'),
  sha256: string(o['sha256'], 'sha256'),
}));

const MadeArm_patches = list(readMadePatch);

export const readMadeArm: Read<wire.MadeArm> = shape((o) => ({
  arm: string(o['arm'], 'arm'),
  key: string(o['key'], 'key'),
  kernel: string(o['kernel'], 'kernel'),
  config_sha256: string(o['config_sha256'], 'config_sha256'),
  compiler: string(o['compiler'], 'compiler'),
  patches: MadeArm_patches(o['patches'], 'patches'),
  writes: or(o['writes'], 'writes', Build_arms, []),
}));

const Made_arms = list(readMadeArm);

const Made_host = map(string);

export const readMade: Read<wire.Made> = shape((o) => ({
  arms: Made_arms(o['arms'], 'arms'),
  host: Made_host(o['host'], 'host'),
  shift: ClassAnswered_choice(o['shift'], 'shift'),
  seeds: ClassOwn_voted(o['seeds'], 'seeds'),
}));

const Measured_made = maybe(readMade);

const Measured_type = literal('measured');

export const readMeasured: Read<wire.Measured> = shape((o) => ({
  lesson: string(o['lesson'], 'lesson'),
  run_id: or(o['run_id'], 'run_id', ErrorMessage_run, null),
  source: Measured_source(o['source'], 'source'),
  clock: ClassTry_clock(o['clock'], 'clock'),
  params: ClassTry_params(o['params'], 'params'),
  workload: string(o['workload'], 'workload'),
  metric: string(o['metric'], 'metric'),
  title: string(o['title'], 'title'),
  better: TryResult_better(o['better'], 'better'),
  rows: Measured_rows(o['rows'], 'rows'),
  at: string(o['at'], 'at'),
  verdict: string(o['verdict'], 'verdict'),
  host: or(o['host'], 'host', string, ''),
  on: or(o['on'], 'on', string, ''),
  curve: or(o['curve'], 'curve', string, ''),
  command: string(o['command'], 'command'),
  done: or(o['done'], 'done', integer, 0),
  total: or(o['total'], 'total', integer, 0),
  made: or(o['made'], 'made', Measured_made, null),
  warnings: or(o['warnings'], 'warnings', Build_arms, []),
  type: Measured_type(o['type'], 'type'),
}));

const Metrics_type = literal('metrics');

export const readWaits: Read<wire.Waits> = shape((o) => ({
  p50: Batch_newest_event_host_ms(o['p50'], 'p50'),
  p95: Batch_newest_event_host_ms(o['p95'], 'p95'),
  max: Batch_newest_event_host_ms(o['max'], 'max'),
  n: integer(o['n'], 'n'),
}));

export const readMetrics: Read<wire.Metrics> = shape((o) => ({
  type: Metrics_type(o['type'], 'type'),
  run_id: string(o['run_id'], 'run_id'),
  arm: string(o['arm'], 'arm'),
  watermark_ns: number(o['watermark_ns'], 'watermark_ns'),
  start_ns: or(o['start_ns'], 'start_ns', ClassAnswered_choice, null),
  ops: integer(o['ops'], 'ops'),
  spans: ClassTry_params(o['spans'], 'spans'),
  events_read: integer(o['events_read'], 'events_read'),
  events_lost: integer(o['events_lost'], 'events_lost'),
  cycles: integer(o['cycles'], 'cycles'),
  wait_ns: readWaits(o['wait_ns'], 'wait_ns'),
}));

const Reading_type = literal('reading');

export const readReading: Read<wire.Reading> = shape((o) => ({
  type: Reading_type(o['type'], 'type'),
  run_id: string(o['run_id'], 'run_id'),
  read: Batch_n(o['read'], 'read'),
  total: Batch_n(o['total'], 'total'),
  whole: boolean(o['whole'], 'whole'),
}));

const Rows_type = literal('rows');

const Row_role = oneOf('thread', 'other', 'track');

export const readRow: Read<wire.Row> = shape((o) => ({
  row: Batch_n(o['row'], 'row'),
  tid: integer(o['tid'], 'tid'),
  name: string(o['name'], 'name'),
  role: Row_role(o['role'], 'role'),
}));

const Rows_rows = list(readRow);

export const readRows: Read<wire.Rows> = shape((o) => ({
  type: Rows_type(o['type'], 'type'),
  run_id: string(o['run_id'], 'run_id'),
  arm: string(o['arm'], 'arm'),
  rows: Rows_rows(o['rows'], 'rows'),
}));

const Run_type = literal('run');

const Run_purpose = oneOf('explain', 'measure');

const Run_phase = oneOf('preparing', 'booting', 'ready', 'running', 'draining', 'done', 'stopped', 'failed');

export const readRun: Read<wire.Run> = shape((o) => ({
  type: Run_type(o['type'], 'type'),
  run_id: string(o['run_id'], 'run_id'),
  lesson: string(o['lesson'], 'lesson'),
  source: Measured_source(o['source'], 'source'),
  purpose: or(o['purpose'], 'purpose', Run_purpose, 'explain'),
  clock: ClassTry_clock(o['clock'], 'clock'),
  shift: or(o['shift'], 'shift', integer, 0),
  params: ClassTry_params(o['params'], 'params'),
  workload: string(o['workload'], 'workload'),
  arms: Build_arms(o['arms'], 'arms'),
  phase: Run_phase(o['phase'], 'phase'),
  started_at: or(o['started_at'], 'started_at', ErrorMessage_run, null),
  recorded_at: or(o['recorded_at'], 'recorded_at', ErrorMessage_run, null),
  apart: or(o['apart'], 'apart', boolean, false),
  message: or(o['message'], 'message', string, ''),
}));

const Runs_type = literal('runs');

export const readLiveRun: Read<wire.LiveRun> = shape((o) => ({
  run_id: string(o['run_id'], 'run_id'),
  lesson: string(o['lesson'], 'lesson'),
  purpose: Run_purpose(o['purpose'], 'purpose'),
  arms: Build_arms(o['arms'], 'arms'),
  workload: string(o['workload'], 'workload'),
  params: ClassTry_params(o['params'], 'params'),
  clock: ClassTry_clock(o['clock'], 'clock'),
  yours: boolean(o['yours'], 'yours'),
}));

const Runs_live = list(readLiveRun);

const WaitingRun_behind = maybe(Run_purpose);

export const readWaitingRun: Read<wire.WaitingRun> = shape((o) => ({
  run_id: string(o['run_id'], 'run_id'),
  lesson: string(o['lesson'], 'lesson'),
  purpose: Run_purpose(o['purpose'], 'purpose'),
  arms: Build_arms(o['arms'], 'arms'),
  place: integer(o['place'], 'place'),
  waiting: integer(o['waiting'], 'waiting'),
  estimate_s: number(o['estimate_s'], 'estimate_s'),
  behind: or(o['behind'], 'behind', WaitingRun_behind, null),
}));

const Runs_waiting = maybe(readWaitingRun);

export const readRuns: Read<wire.Runs> = shape((o) => ({
  type: Runs_type(o['type'], 'type'),
  live: Runs_live(o['live'], 'live'),
  waiting: or(o['waiting'], 'waiting', Runs_waiting, null),
}));

const Sample_type = literal('sample');

const Sample_clock = oneOf('host', 'guest');

const Sample_facts = map(number);

export const readSample: Read<wire.Sample> = shape((o) => ({
  type: Sample_type(o['type'], 'type'),
  run_id: string(o['run_id'], 'run_id'),
  arm: string(o['arm'], 'arm'),
  probe: string(o['probe'], 'probe'),
  seq: integer(o['seq'], 'seq'),
  t_ns: number(o['t_ns'], 't_ns'),
  error_ns: number(o['error_ns'], 'error_ns'),
  clock: Sample_clock(o['clock'], 'clock'),
  took_ns: number(o['took_ns'], 'took_ns'),
  torn: integer(o['torn'], 'torn'),
  failed: integer(o['failed'], 'failed'),
  n: Batch_n(o['n'], 'n'),
  columns: Batch_columns(o['columns'], 'columns'),
  dtypes: Batch_dtypes(o['dtypes'], 'dtypes'),
  facts: Sample_facts(o['facts'], 'facts'),
  texts: Build_arms(o['texts'], 'texts'),
}));

const Segments_type = literal('segments');

export const readSegmentLine: Read<wire.SegmentLine> = shape((o) => ({
  n: Batch_n(o['n'], 'n'),
  digest: string(o['digest'], 'digest'),
  bytes: Batch_n(o['bytes'], 'bytes'),
  through_ns: number(o['through_ns'], 'through_ns'),
}));

const Segments_segments = list(readSegmentLine);

export const readSegments: Read<wire.Segments> = shape((o) => ({
  type: Segments_type(o['type'], 'type'),
  run_id: string(o['run_id'], 'run_id'),
  segments: Segments_segments(o['segments'], 'segments'),
}));

const PictureLesson_clocks = list(ClassTry_clock);

const ArmView_role = oneOf('before', 'after', 'alternative', 'mainline');

export const readArmTree: Read<wire.ArmTree> = shape((o) => ({
  version: string(o['version'], 'version'),
  commit: or(o['commit'], 'commit', string, ''),
  describe: or(o['describe'], 'describe', string, ''),
  tree: or(o['tree'], 'tree', string, ''),
  dirty: or(o['dirty'], 'dirty', boolean, false),
  changes: or(o['changes'], 'changes', string, ''),
  patches: or(o['patches'], 'patches', Batch_n, 0),
}));

const ArmView_source = maybe(readArmTree);

export const readPatchText: Read<wire.PatchText> = shape((o) => ({
  file: string(o['file'], 'file'),
  subject: string(o['subject'], 'subject'),
  body: string(o['body'], 'body'),
  text: string(o['text'], 'text'),
}));

const ArmView_patch_texts = list(readPatchText);

export const readArmView: Read<wire.ArmView> = shape((o) => ({
  name: string(o['name'], 'name'),
  title: string(o['title'], 'title'),
  role: ArmView_role(o['role'], 'role'),
  summary: string(o['summary'], 'summary'),
  patches: or(o['patches'], 'patches', Build_arms, []),
  base: or(o['base'], 'base', ErrorMessage_run, null),
  config: or(o['config'], 'config', ErrorMessage_run, null),
  writes: or(o['writes'], 'writes', Build_arms, []),
  source: or(o['source'], 'source', ArmView_source, null),
  optional: or(o['optional'], 'optional', boolean, false),
  patch_texts: or(o['patch_texts'], 'patch_texts', ArmView_patch_texts, []),
}));

const PictureLesson_arms = list(readArmView, 1);

const PictureLesson_instrumentation = oneOf('patches', 'none');

const Param_type = oneOf('int', 'bool', 'choice');

const Param_applies = oneOf('boot', 'run', 'model');

const Param_role_one = oneOf('duration', 'cpus', 'threads');

const Param_role = maybe(Param_role_one);

export const readParam: Read<wire.Param> = shape((o) => ({
  title: string(o['title'], 'title'),
  help: string(o['help'], 'help'),
  type: or(o['type'], 'type', Param_type, 'int'),
  default: integer(o['default'], 'default'),
  min: or(o['min'], 'min', ClassAnswered_choice, null),
  max: or(o['max'], 'max', ClassAnswered_choice, null),
  measured_max: or(o['measured_max'], 'measured_max', ClassAnswered_choice, null),
  choices: or(o['choices'], 'choices', ClassOwn_voted, []),
  labels: or(o['labels'], 'labels', Build_arms, []),
  unit: or(o['unit'], 'unit', string, ''),
  applies: or(o['applies'], 'applies', Param_applies, 'run'),
  cmdline: or(o['cmdline'], 'cmdline', ErrorMessage_run, null),
  absent_on: or(o['absent_on'], 'absent_on', Build_arms, []),
  role: or(o['role'], 'role', Param_role, null),
}));

const PictureLesson_params = map(readParam);

export const readOperation: Read<wire.Operation> = shape((o) => ({
  name: string(o['name'], 'name'),
  plural: string(o['plural'], 'plural'),
  open: or(o['open'], 'open', ErrorMessage_run, null),
  close: or(o['close'], 'close', ErrorMessage_run, null),
}));

const Workload_operation = maybe(readOperation);

export const readWorkload: Read<wire.Workload> = shape((o) => ({
  title: string(o['title'], 'title'),
  summary: string(o['summary'], 'summary'),
  run: string(o['run'], 'run'),
  setup: or(o['setup'], 'setup', Build_arms, []),
  writes: or(o['writes'], 'writes', Build_arms, []),
  optional: or(o['optional'], 'optional', Made_host, {}),
  scratch_mb: or(o['scratch_mb'], 'scratch_mb', Batch_n, 0),
  input: or(o['input'], 'input', boolean, false),
  comm: string(o['comm'], 'comm'),
  rows: or(o['rows'], 'rows', string, '^$'),
  other: or(o['other'], 'other', ErrorMessage_run, null),
  start_marker: or(o['start_marker'], 'start_marker', string, 'duet: start'),
  ops_line: or(o['ops_line'], 'ops_line', ErrorMessage_run, null),
  operation: or(o['operation'], 'operation', Workload_operation, null),
}));

const PictureLesson_workloads = map(readWorkload);

const PictureLesson_memory_mb = atLeast(integer, 128);

export const readAct: Read<wire.Act> = shape((o) => ({
  title: string(o['title'], 'title'),
  help: string(o['help'], 'help'),
  say: string(o['say'], 'say'),
  workload: string(o['workload'], 'workload'),
  min: or(o['min'], 'min', integer, 0),
  max: or(o['max'], 'max', ClassAnswered_choice, null),
  max_param: or(o['max_param'], 'max_param', ErrorMessage_run, null),
}));

const PictureLesson_acts = map(readAct);

const Metric_span_one = pair(string, string);

const Metric_span = maybe(Metric_span_one);

const Metric_pick_one = oneOf('last', 'first', 'sum', 'mean', 'max', 'min', 'p50');

const Metric_pick = maybe(Metric_pick_one);

const AccessCount_count = oneOf('reads', 'writes', 'rmws', 'accesses');

const AccessCount_per = oneOf('operation', 'run');

export const readAccessCount: Read<wire.AccessCount> = shape((o) => ({
  count: or(o['count'], 'count', AccessCount_count, 'accesses'),
  field: or(o['field'], 'field', ErrorMessage_run, null),
  variable: or(o['variable'], 'variable', ErrorMessage_run, null),
  shared: or(o['shared'], 'shared', boolean, false),
  line: or(o['line'], 'line', boolean, true),
  by: or(o['by'], 'by', Build_arms, []),
  per: or(o['per'], 'per', AccessCount_per, 'operation'),
}));

const Metric_microscope = maybe(readAccessCount);

export const readMetric: Read<wire.Metric> = shape((o) => ({
  title: string(o['title'], 'title'),
  unit: string(o['unit'], 'unit'),
  better: TryResult_better(o['better'], 'better'),
  line: or(o['line'], 'line', ErrorMessage_run, null),
  event: or(o['event'], 'event', ErrorMessage_run, null),
  field: or(o['field'], 'field', ErrorMessage_run, null),
  where: or(o['where'], 'where', ClassTry_params, {}),
  span: or(o['span'], 'span', Metric_span, null),
  pending: or(o['pending'], 'pending', Metric_span, null),
  pick: or(o['pick'], 'pick', Metric_pick, null),
  phase: or(o['phase'], 'phase', ErrorMessage_run, null),
  dwarf: or(o['dwarf'], 'dwarf', ErrorMessage_run, null),
  microscope: or(o['microscope'], 'microscope', Metric_microscope, null),
  resolution: or(o['resolution'], 'resolution', Changed_elapsed_s, 0),
  sampled: or(o['sampled'], 'sampled', boolean, false),
  scale: or(o['scale'], 'scale', ClassPlace_speed_one, 1),
  workloads: or(o['workloads'], 'workloads', Build_arms, []),
  clocks: or(o['clocks'], 'clocks', PictureLesson_clocks, []),
  arms: or(o['arms'], 'arms', Build_arms, []),
  extra: or(o['extra'], 'extra', boolean, false),
}));

const PictureLesson_metrics = map(readMetric);

const Grid_arms = list(string, 1);

const Grid_over = map(ClassOwn_voted);

const Grid_window_ms = maybe(Problem_line);

export const readGridCurve: Read<wire.GridCurve> = shape((o) => ({
  title: string(o['title'], 'title'),
  over: string(o['over'], 'over'),
  metric: string(o['metric'], 'metric'),
  per: or(o['per'], 'per', boolean, true),
}));

const Grid_curves = map(readGridCurve);

export const readGrid: Read<wire.Grid> = shape((o) => ({
  arms: Grid_arms(o['arms'], 'arms'),
  over: Grid_over(o['over'], 'over'),
  params: or(o['params'], 'params', ClassTry_params, {}),
  workload: or(o['workload'], 'workload', ErrorMessage_run, null),
  window_ms: or(o['window_ms'], 'window_ms', Grid_window_ms, null),
  curves: or(o['curves'], 'curves', Grid_curves, {}),
}));

const PictureLesson_grids = map(readGrid);

export const readBeat: Read<wire.Beat> = shape((o) => ({
  point: string(o['point'], 'point'),
  name: string(o['name'], 'name'),
  plural: string(o['plural'], 'plural'),
}));

const PictureLesson_beat = maybe(readBeat);

const Kind_colour = oneOf('work', 'wait', 'mechanism', 'gain', 'vain', 'hazard', 'idle', 'other');

const Kind_layer = oneOf('state', 'function', 'track', 'mark');

const Kind_evidence = oneOf('measured', 'counted', 'modelled');

export const readKind: Read<wire.Kind> = shape((o) => ({
  name: string(o['name'], 'name'),
  title: string(o['title'], 'title'),
  colour: Kind_colour(o['colour'], 'colour'),
  layer: Kind_layer(o['layer'], 'layer'),
  evidence: or(o['evidence'], 'evidence', Kind_evidence, 'counted'),
  lesson: or(o['lesson'], 'lesson', boolean, true),
  always: or(o['always'], 'always', boolean, false),
}));

const PictureLesson_kinds = list(readKind);

export const readEvent: Read<wire.Event> = shape((o) => ({
  event: string(o['event'], 'event'),
  define: or(o['define'], 'define', ErrorMessage_run, null),
  filter: or(o['filter'], 'filter', ErrorMessage_run, null),
  explain_max: or(o['explain_max'], 'explain_max', ClassTry_params, {}),
}));

const Probe_bases_value_1 = literal('absent');

const Probe_bases_value = either(readEvent, Probe_bases_value_1);

const Probe_bases = map(Probe_bases_value);

export const readProbe: Read<wire.Probe> = shape((o) => ({
  event: string(o['event'], 'event'),
  define: or(o['define'], 'define', ErrorMessage_run, null),
  filter: or(o['filter'], 'filter', ErrorMessage_run, null),
  explain_max: or(o['explain_max'], 'explain_max', ClassTry_params, {}),
  name: string(o['name'], 'name'),
  arms: or(o['arms'], 'arms', Build_arms, []),
  bases: or(o['bases'], 'bases', Probe_bases, {}),
  explain: or(o['explain'], 'explain', boolean, true),
}));

const PictureLesson_probes = list(readProbe);

export const readSpan: Read<wire.Span> = shape((o) => ({
  kind: or(o['kind'], 'kind', ErrorMessage_run, null),
  open: string(o['open'], 'open'),
  close: string(o['close'], 'close'),
  arg: or(o['arg'], 'arg', ErrorMessage_run, null),
  when: or(o['when'], 'when', Made_host, {}),
  wait: or(o['wait'], 'wait', ErrorMessage_run, null),
}));

const PictureLesson_spans = list(readSpan);

const Phase_value = either(integer, string);

export const readPhase: Read<wire.Phase> = shape((o) => ({
  event: string(o['event'], 'event'),
  value: Phase_value(o['value'], 'value'),
  after: or(o['after'], 'after', ErrorMessage_run, null),
  opens: or(o['opens'], 'opens', ErrorMessage_run, null),
}));

const Track_phases = list(readPhase);

export const readTrack: Read<wire.Track> = shape((o) => ({
  name: string(o['name'], 'name'),
  title: string(o['title'], 'title'),
  field: string(o['field'], 'field'),
  phases: Track_phases(o['phases'], 'phases'),
  arms: or(o['arms'], 'arms', Build_arms, []),
  lesson: or(o['lesson'], 'lesson', boolean, true),
}));

const PictureLesson_tracks = list(readTrack);

export const readLink: Read<wire.Link> = shape((o) => ({
  name: string(o['name'], 'name'),
  title: string(o['title'], 'title'),
  event: string(o['event'], 'event'),
  during: string(o['during'], 'during'),
  target: string(o['target'], 'target'),
}));

const PictureLesson_links = list(readLink);

export const readXrayConfig: Read<wire.XrayConfig> = shape((o) => ({
  probe: string(o['probe'], 'probe'),
  hz: or(o['hz'], 'hz', ClassPlace_speed_one, 10),
  of: or(o['of'], 'of', string, ''),
  workloads: or(o['workloads'], 'workloads', Build_arms, []),
}));

const PictureLesson_xray = list(readXrayConfig);

const MicroscopeConfig_bases = map(Made_host);

export const readMicroscopeConfig: Read<wire.MicroscopeConfig> = shape((o) => ({
  functions: Grid_arms(o['functions'], 'functions'),
  operation: string(o['operation'], 'operation'),
  until: or(o['until'], 'until', string, ''),
  probe: or(o['probe'], 'probe', ErrorMessage_run, null),
  object: or(o['object'], 'object', string, ''),
  ready: or(o['ready'], 'ready', string, ''),
  go: or(o['go'], 'go', string, ''),
  bases: or(o['bases'], 'bases', MicroscopeConfig_bases, {}),
  log: or(o['log'], 'log', Batch_n, 20000),
  workloads: Grid_arms(o['workloads'], 'workloads'),
}));

const PictureLesson_microscope = maybe(readMicroscopeConfig);

const Point_lens_one = literal('microscope');

const Point_lens = maybe(Point_lens_one);

export const readPoint: Read<wire.Point> = shape((o) => ({
  name: string(o['name'], 'name'),
  probe: or(o['probe'], 'probe', ErrorMessage_run, null),
  lens: or(o['lens'], 'lens', Point_lens, null),
  title: string(o['title'], 'title'),
  fields: or(o['fields'], 'fields', Build_arms, []),
}));

const PictureLesson_points = list(readPoint);

export const readCounter: Read<wire.Counter> = shape((o) => ({
  name: string(o['name'], 'name'),
  title: string(o['title'], 'title'),
  point: or(o['point'], 'point', ErrorMessage_run, null),
  xray: or(o['xray'], 'xray', ErrorMessage_run, null),
  field: or(o['field'], 'field', ErrorMessage_run, null),
  sum: or(o['sum'], 'sum', boolean, false),
}));

const PictureLesson_counters = list(readCounter);

export const readAxis: Read<wire.Axis> = shape((o) => ({
  point: string(o['point'], 'point'),
  title: string(o['title'], 'title'),
  unit: string(o['unit'], 'unit'),
  plural: string(o['plural'], 'plural'),
  workloads: or(o['workloads'], 'workloads', Build_arms, []),
}));

const PictureLesson_axis = maybe(readAxis);

export const readLit: Read<wire.Lit> = shape((o) => ({
  match: string(o['match'], 'match'),
  kind: string(o['kind'], 'kind'),
  arms: or(o['arms'], 'arms', Build_arms, []),
  who: or(o['who'], 'who', string, ''),
}));

const PictureLesson_lit = list(readLit);

const Scene_align = oneOf('time', 'operation', 'marker', 'begin');

const Sought_where_value = pair(number, number);

const Sought_where = map(Sought_where_value);

const Sought_at_once_one = above(integer, 0);

const Sought_at_once_1 = literal('all');

const Sought_at_once = either(Sought_at_once_one, Sought_at_once_1);

export const readSought: Read<wire.Sought> = shape((o) => ({
  kind: or(o['kind'], 'kind', ErrorMessage_run, null),
  point: or(o['point'], 'point', ErrorMessage_run, null),
  link: or(o['link'], 'link', ErrorMessage_run, null),
  operation: or(o['operation'], 'operation', boolean, false),
  looks: or(o['looks'], 'looks', ErrorMessage_run, null),
  arms: or(o['arms'], 'arms', Build_arms, []),
  where: or(o['where'], 'where', Sought_where, {}),
  among: or(o['among'], 'among', Build_arms, []),
  during: or(o['during'], 'during', ErrorMessage_run, null),
  at_once: or(o['at_once'], 'at_once', Sought_at_once, 1),
  whole: or(o['whole'], 'whole', boolean, false),
  longer_ms: or(o['longer_ms'], 'longer_ms', Changed_elapsed_s, 0),
  at_least: or(o['at_least'], 'at_least', Pointed_row, null),
  at_most: or(o['at_most'], 'at_most', Pointed_row, null),
  most: or(o['most'], 'most', boolean, false),
  opens: or(o['opens'], 'opens', boolean, false),
}));

const MustShow_marks = list(readSought, 1);

export const readMustShow: Read<wire.MustShow> = shape((o) => ({
  that: string(o['that'], 'that'),
  marks: MustShow_marks(o['marks'], 'marks'),
}));

const Scene_must_show = maybe(readMustShow);

export const readOnCount: Read<wire.OnCount> = shape((o) => ({
  params: or(o['params'], 'params', ClassTry_params, {}),
  note: or(o['note'], 'note', string, ''),
}));

const Scene_on_count = maybe(readOnCount);

export const readScene: Read<wire.Scene> = shape((o) => ({
  id: string(o['id'], 'id'),
  was: or(o['was'], 'was', Build_arms, []),
  title: string(o['title'], 'title'),
  arms: Build_arms(o['arms'], 'arms'),
  params: or(o['params'], 'params', ClassTry_params, {}),
  window_ms: or(o['window_ms'], 'window_ms', Changed_elapsed_s, 0),
  window_steps: or(o['window_steps'], 'window_steps', Batch_n, 0),
  seconds: or(o['seconds'], 'seconds', ClassPlace_speed_one, 5),
  moment: or(o['moment'], 'moment', string, 'newest'),
  align: or(o['align'], 'align', Scene_align, 'time'),
  operation: or(o['operation'], 'operation', Problem_line, 1),
  focus: or(o['focus'], 'focus', Build_arms, []),
  show: or(o['show'], 'show', Build_arms, []),
  must_show: or(o['must_show'], 'must_show', Scene_must_show, null),
  sentence: or(o['sentence'], 'sentence', string, 'none'),
  workload: or(o['workload'], 'workload', ErrorMessage_run, null),
  predict: or(o['predict'], 'predict', ErrorMessage_run, null),
  toy: or(o['toy'], 'toy', ErrorMessage_run, null),
  on_count: or(o['on_count'], 'on_count', Scene_on_count, null),
  claim: or(o['claim'], 'claim', string, ''),
  patch_at: or(o['patch_at'], 'patch_at', Build_arms, []),
  notes: or(o['notes'], 'notes', string, ''),
  minutes: or(o['minutes'], 'minutes', Changed_elapsed_s, 0),
}));

const PictureLesson_scenes = list(readScene);

export const readCrossing: Read<wire.Crossing> = shape((o) => ({
  grid: string(o['grid'], 'grid'),
  curve: string(o['curve'], 'curve'),
  below: or(o['below'], 'below', ClassPlace_speed, null),
  above: or(o['above'], 'above', ClassPlace_speed, null),
}));

const Prediction_crossing = maybe(readCrossing);

const Prediction_measured_on = maybe(ClassTry_clock);

export const readPrediction: Read<wire.Prediction> = shape((o) => ({
  question: string(o['question'], 'question'),
  choices: Build_arms(o['choices'], 'choices'),
  metric: string(o['metric'], 'metric'),
  unit: or(o['unit'], 'unit', string, ''),
  crossing: or(o['crossing'], 'crossing', Prediction_crossing, null),
  arms: Metric_span_one(o['arms'], 'arms'),
  bounds: MeasuredRow_ops_per_s(o['bounds'], 'bounds'),
  params: or(o['params'], 'params', ClassTry_params, {}),
  measured_on: or(o['measured_on'], 'measured_on', Prediction_measured_on, null),
  judged_when_busy: or(o['judged_when_busy'], 'judged_when_busy', boolean, false),
}));

const PictureLesson_predictions = map(readPrediction);

export const readQuestion: Read<wire.Question> = shape((o) => ({
  ask: string(o['ask'], 'ask'),
  step: string(o['step'], 'step'),
  kind: string(o['kind'], 'kind'),
  arm: string(o['arm'], 'arm'),
  also: or(o['also'], 'also', Build_arms, []),
  any_lane: or(o['any_lane'], 'any_lane', boolean, false),
  why: string(o['why'], 'why'),
}));

const PictureLesson_questions = list(readQuestion);

export const readSource: Read<wire.Source> = shape((o) => ({
  by: string(o['by'], 'by'),
  date: or(o['date'], 'date', string, ''),
  subject: string(o['subject'], 'subject'),
  link: or(o['link'], 'link', string, ''),
  commit: or(o['commit'], 'commit', string, ''),
}));

const Remark_sources = list(readSource, 1);

export const readTrial: Read<wire.Trial> = shape((o) => ({
  title: string(o['title'], 'title'),
  step: or(o['step'], 'step', ErrorMessage_run, null),
  arms: or(o['arms'], 'arms', Build_arms, []),
  params: or(o['params'], 'params', ClassTry_params, {}),
  workload: or(o['workload'], 'workload', ErrorMessage_run, null),
  clock: or(o['clock'], 'clock', Prediction_measured_on, null),
  patch: or(o['patch'], 'patch', ErrorMessage_run, null),
}));

const Remark_tried = list(readTrial);

export const readRemark: Read<wire.Remark> = shape((o) => ({
  said: string(o['said'], 'said'),
  became: or(o['became'], 'became', string, ''),
  sources: Remark_sources(o['sources'], 'sources'),
  tried: or(o['tried'], 'tried', Remark_tried, []),
  untried: or(o['untried'], 'untried', string, ''),
}));

const PictureLesson_discussion = list(readRemark);

export const readClaim: Read<wire.Claim> = shape((o) => ({
  metric: string(o['metric'], 'metric'),
  to: or(o['to'], 'to', ErrorMessage_run, null),
  ratio_max: or(o['ratio_max'], 'ratio_max', Batch_newest_event_host_ms, null),
  ratio_min: or(o['ratio_min'], 'ratio_min', Batch_newest_event_host_ms, null),
  value_max: or(o['value_max'], 'value_max', Batch_newest_event_host_ms, null),
  value_min: or(o['value_min'], 'value_min', Batch_newest_event_host_ms, null),
  equals: or(o['equals'], 'equals', ErrorMessage_run, null),
  params: ClassTry_params(o['params'], 'params'),
  clock: ClassTry_clock(o['clock'], 'clock'),
  shift: or(o['shift'], 'shift', Batch_n, 0),
  workload: or(o['workload'], 'workload', ErrorMessage_run, null),
  arm: string(o['arm'], 'arm'),
  source: string(o['source'], 'source'),
}));

const PictureLesson_claims = list(readClaim);

export const readMail: Read<wire.Mail> = shape((o) => ({
  author: string(o['author'], 'author'),
  date: string(o['date'], 'date'),
  subject: string(o['subject'], 'subject'),
  url: or(o['url'], 'url', ErrorMessage_run, null),
}));

const PictureLesson_mails = map(readMail);

const PublishedFigure_mail_interval = maybe(Sought_where_value);

export const readPublishedFigure: Read<wire.PublishedFigure> = shape((o) => ({
  claim: string(o['claim'], 'claim'),
  mail: string(o['mail'], 'mail'),
  value: number(o['value'], 'value'),
  base: or(o['base'], 'base', Batch_newest_event_host_ms, null),
  unit: string(o['unit'], 'unit'),
  context: string(o['context'], 'context'),
  link: or(o['link'], 'link', ErrorMessage_run, null),
  mail_ratio: or(o['mail_ratio'], 'mail_ratio', ClassPlace_speed, null),
  mail_interval: or(o['mail_interval'], 'mail_interval', PublishedFigure_mail_interval, null),
  exponent: or(o['exponent'], 'exponent', ClassPlace_speed, null),
  not_testable: or(o['not_testable'], 'not_testable', string, ''),
  needs_cpus: or(o['needs_cpus'], 'needs_cpus', Problem_line, 1),
  metric: or(o['metric'], 'metric', ErrorMessage_run, null),
  arm: or(o['arm'], 'arm', ErrorMessage_run, null),
  to: or(o['to'], 'to', ErrorMessage_run, null),
  params: or(o['params'], 'params', ClassTry_params, {}),
  to_params: or(o['to_params'], 'to_params', ClassTry_params, {}),
  clock: or(o['clock'], 'clock', ClassTry_clock, 'wall'),
  shift: or(o['shift'], 'shift', Batch_n, 0),
  workload: or(o['workload'], 'workload', ErrorMessage_run, null),
  because: or(o['because'], 'because', string, ''),
}));

const PictureLesson_published = list(readPublishedFigure);

export const readReference: Read<wire.Reference> = shape((o) => ({
  quantity: string(o['quantity'], 'quantity'),
  arm: string(o['arm'], 'arm'),
  params: ClassTry_params(o['params'], 'params'),
  value: ClassPlace_speed_one(o['value'], 'value'),
  title: or(o['title'], 'title', string, ''),
}));

const PictureLesson_references = list(readReference);

const Curve_points = list(ClassTry_params, 2);

export const readCurve: Read<wire.Curve> = shape((o) => ({
  over: string(o['over'], 'over'),
  arms: Grid_arms(o['arms'], 'arms'),
  points: Curve_points(o['points'], 'points'),
  clock: or(o['clock'], 'clock', ClassTry_clock, 'wall'),
  workload: or(o['workload'], 'workload', ErrorMessage_run, null),
  metric: or(o['metric'], 'metric', ErrorMessage_run, null),
}));

const PictureLesson_curves = map(readCurve);

export const readTerm: Read<wire.Term> = shape((o) => ({
  name: string(o['name'], 'name'),
  also: or(o['also'], 'also', Build_arms, []),
  says: or(o['says'], 'says', string, ''),
  drawing: or(o['drawing'], 'drawing', string, ''),
  entry: or(o['entry'], 'entry', boolean, true),
  shared: or(o['shared'], 'shared', boolean, false),
}));

const PictureLesson_terms = list(readTerm);

const Explanation_ours = list(string, 3);

export const readExplanation: Read<wire.Explanation> = shape((o) => ({
  ask: string(o['ask'], 'ask'),
  ours: Explanation_ours(o['ours'], 'ours'),
}));

const PictureLesson_explain = maybe(readExplanation);

export const readQuizQuestion: Read<wire.QuizQuestion> = shape((o) => ({
  ask: string(o['ask'], 'ask'),
  choices: or(o['choices'], 'choices', Build_arms, []),
  right: or(o['right'], 'right', Grid_window_ms, null),
  number: or(o['number'], 'number', Batch_newest_event_host_ms, null),
  within: or(o['within'], 'within', Changed_elapsed_s, 0),
  unit: or(o['unit'], 'unit', string, ''),
  why: string(o['why'], 'why'),
  step: or(o['step'], 'step', ErrorMessage_run, null),
}));

const PictureLesson_quiz = list(readQuizQuestion);

const Challenge_aim = oneOf('better', 'break');

export const readGoal: Read<wire.Goal> = shape((o) => ({
  metric: string(o['metric'], 'metric'),
  to: or(o['to'], 'to', ErrorMessage_run, null),
  ratio_max: or(o['ratio_max'], 'ratio_max', Batch_newest_event_host_ms, null),
  ratio_min: or(o['ratio_min'], 'ratio_min', Batch_newest_event_host_ms, null),
  value_max: or(o['value_max'], 'value_max', Batch_newest_event_host_ms, null),
  value_min: or(o['value_min'], 'value_min', Batch_newest_event_host_ms, null),
  equals: or(o['equals'], 'equals', ErrorMessage_run, null),
  params: or(o['params'], 'params', ClassTry_params, {}),
  clock: or(o['clock'], 'clock', ClassTry_clock, 'count'),
  shift: or(o['shift'], 'shift', Batch_n, 0),
  workload: or(o['workload'], 'workload', ErrorMessage_run, null),
  says: string(o['says'], 'says'),
}));

const Challenge_goals = list(readGoal);

const Litmus_program = map(Build_arms);

export const readLitmus: Read<wire.Litmus> = shape((o) => ({
  says: string(o['says'], 'says'),
  source: string(o['source'], 'source'),
  starts: ClassTry_params(o['starts'], 'starts'),
  program: Litmus_program(o['program'], 'program'),
  never: ClassTry_params(o['never'], 'never'),
}));

const Challenge_order = maybe(readLitmus);

export const readChallenge: Read<wire.Challenge> = shape((o) => ({
  title: string(o['title'], 'title'),
  ask: string(o['ask'], 'ask'),
  hint: string(o['hint'], 'hint'),
  arm: string(o['arm'], 'arm'),
  aim: or(o['aim'], 'aim', Challenge_aim, 'better'),
  goals: or(o['goals'], 'goals', Challenge_goals, []),
  rules: or(o['rules'], 'rules', Challenge_goals, []),
  without: or(o['without'], 'without', Build_arms, []),
  order: or(o['order'], 'order', Challenge_order, null),
  answer: string(o['answer'], 'answer'),
}));

const PictureLesson_challenges = map(readChallenge);

const Stress_turns = list(ClassTry_params);

export const readStress: Read<wire.Stress> = shape((o) => ({
  turns: or(o['turns'], 'turns', Stress_turns, [{}]),
  beside: or(o['beside'], 'beside', ErrorMessage_run, null),
  alone: or(o['alone'], 'alone', Build_arms, []),
  work: or(o['work'], 'work', Made_host, {}),
}));

export const readRecordingLine: Read<wire.RecordingLine> = shape((o) => ({
  name: string(o['name'], 'name'),
  lesson: string(o['lesson'], 'lesson'),
  params: ClassTry_params(o['params'], 'params'),
  arms: Build_arms(o['arms'], 'arms'),
  clock: ClassTry_clock(o['clock'], 'clock'),
  workload: ErrorMessage_run(o['workload'], 'workload'),
  seconds: ClassAnswered_choice(o['seconds'], 'seconds'),
  bytes: integer(o['bytes'], 'bytes'),
  recorded_at: ErrorMessage_run(o['recorded_at'], 'recorded_at'),
}));

const PictureLesson_recordings = list(readRecordingLine);

const GridCell_values = map(Sample_facts);

export const readGridCell: Read<wire.GridCell> = shape((o) => ({
  name: string(o['name'], 'name'),
  lesson: string(o['lesson'], 'lesson'),
  params: ClassTry_params(o['params'], 'params'),
  arms: Build_arms(o['arms'], 'arms'),
  clock: ClassTry_clock(o['clock'], 'clock'),
  workload: ErrorMessage_run(o['workload'], 'workload'),
  seconds: ClassAnswered_choice(o['seconds'], 'seconds'),
  bytes: integer(o['bytes'], 'bytes'),
  recorded_at: ErrorMessage_run(o['recorded_at'], 'recorded_at'),
  grid: string(o['grid'], 'grid'),
  sha256: string(o['sha256'], 'sha256'),
  host: string(o['host'], 'host'),
  window_ms: ClassAnswered_choice(o['window_ms'], 'window_ms'),
  values: GridCell_values(o['values'], 'values'),
}));

const PictureLesson_cells = list(readGridCell);

const PictureLesson_ready = map(boolean);

export const readMeasuredTable: Read<wire.MeasuredTable> = shape((o) => ({
  lesson: string(o['lesson'], 'lesson'),
  run_id: or(o['run_id'], 'run_id', ErrorMessage_run, null),
  source: Measured_source(o['source'], 'source'),
  clock: ClassTry_clock(o['clock'], 'clock'),
  params: ClassTry_params(o['params'], 'params'),
  workload: string(o['workload'], 'workload'),
  metric: string(o['metric'], 'metric'),
  title: string(o['title'], 'title'),
  better: TryResult_better(o['better'], 'better'),
  rows: Measured_rows(o['rows'], 'rows'),
  at: string(o['at'], 'at'),
  verdict: string(o['verdict'], 'verdict'),
  host: or(o['host'], 'host', string, ''),
  on: or(o['on'], 'on', string, ''),
  curve: or(o['curve'], 'curve', string, ''),
  command: string(o['command'], 'command'),
  done: or(o['done'], 'done', integer, 0),
  total: or(o['total'], 'total', integer, 0),
  made: or(o['made'], 'made', Measured_made, null),
  warnings: or(o['warnings'], 'warnings', Build_arms, []),
}));

const PictureLesson_measured = list(readMeasuredTable);

const NativeView_cores = atLeast(integer, 4);

export const readNativeMade: Read<wire.NativeMade> = shape((o) => ({
  cpu: string(o['cpu'], 'cpu'),
  kernel: string(o['kernel'], 'kernel'),
  machine: string(o['machine'], 'machine'),
  compiler: string(o['compiler'], 'compiler'),
  at: string(o['at'], 'at'),
}));

export const readNativePoint: Read<wire.NativePoint> = shape((o) => ({
  threads: Problem_line(o['threads'], 'threads'),
  median: ClassPlace_speed_one(o['median'], 'median'),
  low: ClassPlace_speed_one(o['low'], 'low'),
  high: ClassPlace_speed_one(o['high'], 'high'),
}));

const NativeLayout_curve = list(readNativePoint);

export const readNativeLayout: Read<wire.NativeLayout> = shape((o) => ({
  arm: string(o['arm'], 'arm'),
  curve: NativeLayout_curve(o['curve'], 'curve'),
}));

const NativeView_arms = list(readNativeLayout, 1);

export const readNativeRatio: Read<wire.NativeRatio> = shape((o) => ({
  of: string(o['of'], 'of'),
  to: string(o['to'], 'to'),
  median: ClassPlace_speed_one(o['median'], 'median'),
  low: number(o['low'], 'low'),
  high: number(o['high'], 'high'),
}));

export const readNativeHost: Read<wire.NativeHost> = shape((o) => ({
  what: string(o['what'], 'what'),
  curve: NativeLayout_curve(o['curve'], 'curve'),
}));

const NativeView_host = maybe(readNativeHost);

export const readNativeView: Read<wire.NativeView> = shape((o) => ({
  format: Problem_line(o['format'], 'format'),
  lesson: string(o['lesson'], 'lesson'),
  evidence: Measured_type(o['evidence'], 'evidence'),
  what: string(o['what'], 'what'),
  threads: integer(o['threads'], 'threads'),
  cores: NativeView_cores(o['cores'], 'cores'),
  rounds: integer(o['rounds'], 'rounds'),
  run_ms: integer(o['run_ms'], 'run_ms'),
  made: readNativeMade(o['made'], 'made'),
  arms: NativeView_arms(o['arms'], 'arms'),
  ratio: readNativeRatio(o['ratio'], 'ratio'),
  host: NativeView_host(o['host'], 'host'),
  remarks: Build_arms(o['remarks'], 'remarks'),
}));

const PictureLesson_native = maybe(readNativeView);

export const readPictureLesson: Read<wire.PictureLesson> = shape((o) => ({
  title: string(o['title'], 'title'),
  question: string(o['question'], 'question'),
  summary: string(o['summary'], 'summary'),
  clock: ClassTry_clock(o['clock'], 'clock'),
  clocks: PictureLesson_clocks(o['clocks'], 'clocks'),
  shift: or(o['shift'], 'shift', Batch_n, 0),
  arms: PictureLesson_arms(o['arms'], 'arms'),
  made_by: or(o['made_by'], 'made_by', string, ''),
  instrumentation: or(o['instrumentation'], 'instrumentation', PictureLesson_instrumentation, 'patches'),
  params: PictureLesson_params(o['params'], 'params'),
  workloads: PictureLesson_workloads(o['workloads'], 'workloads'),
  waiting: or(o['waiting'], 'waiting', boolean, false),
  memory_mb: or(o['memory_mb'], 'memory_mb', PictureLesson_memory_mb, 512),
  acts: or(o['acts'], 'acts', PictureLesson_acts, {}),
  metrics: PictureLesson_metrics(o['metrics'], 'metrics'),
  grids: or(o['grids'], 'grids', PictureLesson_grids, {}),
  operation: readOperation(o['operation'], 'operation'),
  thread: or(o['thread'], 'thread', string, 'thread'),
  view: string(o['view'], 'view'),
  beat: or(o['beat'], 'beat', PictureLesson_beat, null),
  kinds: PictureLesson_kinds(o['kinds'], 'kinds'),
  probes: or(o['probes'], 'probes', PictureLesson_probes, []),
  spans: or(o['spans'], 'spans', PictureLesson_spans, []),
  tracks: or(o['tracks'], 'tracks', PictureLesson_tracks, []),
  links: or(o['links'], 'links', PictureLesson_links, []),
  xray: or(o['xray'], 'xray', PictureLesson_xray, []),
  microscope: or(o['microscope'], 'microscope', PictureLesson_microscope, null),
  points: or(o['points'], 'points', PictureLesson_points, []),
  counters: or(o['counters'], 'counters', PictureLesson_counters, []),
  axis: or(o['axis'], 'axis', PictureLesson_axis, null),
  lit: or(o['lit'], 'lit', PictureLesson_lit, []),
  scenes: PictureLesson_scenes(o['scenes'], 'scenes'),
  hero: or(o['hero'], 'hero', ErrorMessage_run, null),
  predictions: or(o['predictions'], 'predictions', PictureLesson_predictions, {}),
  questions: or(o['questions'], 'questions', PictureLesson_questions, []),
  discussion: or(o['discussion'], 'discussion', PictureLesson_discussion, []),
  claims: or(o['claims'], 'claims', PictureLesson_claims, []),
  mails: or(o['mails'], 'mails', PictureLesson_mails, {}),
  published: or(o['published'], 'published', PictureLesson_published, []),
  references: or(o['references'], 'references', PictureLesson_references, []),
  curves: or(o['curves'], 'curves', PictureLesson_curves, {}),
  caveats: or(o['caveats'], 'caveats', Build_arms, []),
  no_table: or(o['no_table'], 'no_table', string, ''),
  terms: or(o['terms'], 'terms', PictureLesson_terms, []),
  explain: or(o['explain'], 'explain', PictureLesson_explain, null),
  quiz: or(o['quiz'], 'quiz', PictureLesson_quiz, []),
  challenges: or(o['challenges'], 'challenges', PictureLesson_challenges, {}),
  stress: or(o['stress'], 'stress', readStress, {"turns":[{}],"beside":null,"alone":[],"work":{}}),
  slug: string(o['slug'], 'slug'),
  content: or(o['content'], 'content', Made_host, {}),
  recordings: or(o['recordings'], 'recordings', PictureLesson_recordings, []),
  cells: or(o['cells'], 'cells', PictureLesson_cells, []),
  ready: or(o['ready'], 'ready', PictureLesson_ready, {}),
  measured: or(o['measured'], 'measured', PictureLesson_measured, []),
  drawings: or(o['drawings'], 'drawings', Made_host, {}),
  native: or(o['native'], 'native', PictureLesson_native, null),
  hz: or(o['hz'], 'hz', ClassPlace_speed_one, 250),
  base: or(o['base'], 'base', string, ''),
}));

export const readNumbersLesson: Read<wire.NumbersLesson> = shape((o) => ({
  title: string(o['title'], 'title'),
  question: string(o['question'], 'question'),
  summary: string(o['summary'], 'summary'),
  clock: ClassTry_clock(o['clock'], 'clock'),
  clocks: PictureLesson_clocks(o['clocks'], 'clocks'),
  shift: or(o['shift'], 'shift', Batch_n, 0),
  arms: PictureLesson_arms(o['arms'], 'arms'),
  made_by: or(o['made_by'], 'made_by', string, ''),
  instrumentation: or(o['instrumentation'], 'instrumentation', PictureLesson_instrumentation, 'patches'),
  params: PictureLesson_params(o['params'], 'params'),
  workloads: PictureLesson_workloads(o['workloads'], 'workloads'),
  waiting: or(o['waiting'], 'waiting', boolean, false),
  memory_mb: or(o['memory_mb'], 'memory_mb', PictureLesson_memory_mb, 512),
  acts: or(o['acts'], 'acts', PictureLesson_acts, {}),
  metrics: PictureLesson_metrics(o['metrics'], 'metrics'),
  grids: or(o['grids'], 'grids', PictureLesson_grids, {}),
  operation: or(o['operation'], 'operation', Workload_operation, null),
  thread: or(o['thread'], 'thread', string, 'thread'),
  view: or(o['view'], 'view', nothing, null),
  beat: or(o['beat'], 'beat', PictureLesson_beat, null),
  kinds: or(o['kinds'], 'kinds', PictureLesson_kinds, []),
  probes: or(o['probes'], 'probes', PictureLesson_probes, []),
  spans: or(o['spans'], 'spans', PictureLesson_spans, []),
  tracks: or(o['tracks'], 'tracks', PictureLesson_tracks, []),
  links: or(o['links'], 'links', PictureLesson_links, []),
  xray: or(o['xray'], 'xray', PictureLesson_xray, []),
  microscope: or(o['microscope'], 'microscope', PictureLesson_microscope, null),
  points: or(o['points'], 'points', PictureLesson_points, []),
  counters: or(o['counters'], 'counters', PictureLesson_counters, []),
  axis: or(o['axis'], 'axis', PictureLesson_axis, null),
  lit: or(o['lit'], 'lit', PictureLesson_lit, []),
  scenes: or(o['scenes'], 'scenes', PictureLesson_scenes, []),
  hero: or(o['hero'], 'hero', ErrorMessage_run, null),
  predictions: or(o['predictions'], 'predictions', PictureLesson_predictions, {}),
  questions: or(o['questions'], 'questions', PictureLesson_questions, []),
  discussion: or(o['discussion'], 'discussion', PictureLesson_discussion, []),
  claims: or(o['claims'], 'claims', PictureLesson_claims, []),
  mails: or(o['mails'], 'mails', PictureLesson_mails, {}),
  published: or(o['published'], 'published', PictureLesson_published, []),
  references: or(o['references'], 'references', PictureLesson_references, []),
  curves: or(o['curves'], 'curves', PictureLesson_curves, {}),
  caveats: or(o['caveats'], 'caveats', Build_arms, []),
  no_table: or(o['no_table'], 'no_table', string, ''),
  terms: or(o['terms'], 'terms', PictureLesson_terms, []),
  explain: or(o['explain'], 'explain', PictureLesson_explain, null),
  quiz: or(o['quiz'], 'quiz', PictureLesson_quiz, []),
  challenges: or(o['challenges'], 'challenges', PictureLesson_challenges, {}),
  stress: or(o['stress'], 'stress', readStress, {"turns":[{}],"beside":null,"alone":[],"work":{}}),
  slug: string(o['slug'], 'slug'),
  content: or(o['content'], 'content', Made_host, {}),
  recordings: or(o['recordings'], 'recordings', PictureLesson_recordings, []),
  cells: or(o['cells'], 'cells', PictureLesson_cells, []),
  ready: or(o['ready'], 'ready', PictureLesson_ready, {}),
  measured: or(o['measured'], 'measured', PictureLesson_measured, []),
  drawings: or(o['drawings'], 'drawings', Made_host, {}),
  native: or(o['native'], 'native', PictureLesson_native, null),
  prose: or(o['prose'], 'prose', string, ''),
}));

const Health_status = literal('ok');

export const readLaneState: Read<wire.LaneState> = shape((o) => ({
  run_id: string(o['run_id'], 'run_id'),
  arm: string(o['arm'], 'arm'),
  phase: Lane_phase(o['phase'], 'phase'),
  pid: ClassAnswered_choice(o['pid'], 'pid'),
}));

const Health_lanes = list(readLaneState);

const Health_kernels = map(PictureLesson_ready);

export const readSeats: Read<wire.Seats> = shape((o) => ({
  open: integer(o['open'], 'open'),
  most: integer(o['most'], 'most'),
  dropped: integer(o['dropped'], 'dropped'),
  refused: integer(o['refused'], 'refused'),
}));

export const readLoopHolds: Read<wire.LoopHolds> = shape((o) => ({
  holds: integer(o['holds'], 'holds'),
  holds_cpu: integer(o['holds_cpu'], 'holds_cpu'),
  longest_ms: number(o['longest_ms'], 'longest_ms'),
  longest_cpu_ms: number(o['longest_cpu_ms'], 'longest_cpu_ms'),
  place: string(o['place'], 'place'),
  longest_gc_ms: number(o['longest_gc_ms'], 'longest_gc_ms'),
  budget_ms: number(o['budget_ms'], 'budget_ms'),
}));

export const readHealth: Read<wire.Health> = shape((o) => ({
  status: Health_status(o['status'], 'status'),
  version: string(o['version'], 'version'),
  protocol: integer(o['protocol'], 'protocol'),
  viewers: integer(o['viewers'], 'viewers'),
  playing: Build_arms(o['playing'], 'playing'),
  waiting: integer(o['waiting'], 'waiting'),
  lanes: Health_lanes(o['lanes'], 'lanes'),
  kernels: Health_kernels(o['kernels'], 'kernels'),
  connections: readSeats(o['connections'], 'connections'),
  sockets: readSeats(o['sockets'], 'sockets'),
  loop: readLoopHolds(o['loop'], 'loop'),
}));

export const readLessonLine: Read<wire.LessonLine> = shape((o) => ({
  slug: string(o['slug'], 'slug'),
  title: string(o['title'], 'title'),
  question: string(o['question'], 'question'),
}));

const RawEvent_fields_value = either(string, integer);

const RawEvent_fields = map(RawEvent_fields_value);

export const readRawEvent: Read<wire.RawEvent> = shape((o) => ({
  t_ns: number(o['t_ns'], 't_ns'),
  cpu: integer(o['cpu'], 'cpu'),
  tid: integer(o['tid'], 'tid'),
  task: string(o['task'], 'task'),
  event: string(o['event'], 'event'),
  fields: RawEvent_fields(o['fields'], 'fields'),
}));

const SavedRun_params = maybe(ClassTry_params);

export const readSavedRun: Read<wire.SavedRun> = shape((o) => ({
  name: string(o['name'], 'name'),
  lesson: ErrorMessage_run(o['lesson'], 'lesson'),
  arms: Build_arms(o['arms'], 'arms'),
  bytes: integer(o['bytes'], 'bytes'),
  params: or(o['params'], 'params', SavedRun_params, null),
  clock: or(o['clock'], 'clock', Prediction_measured_on, null),
  workload: or(o['workload'], 'workload', ErrorMessage_run, null),
  seconds: or(o['seconds'], 'seconds', ClassAnswered_choice, null),
  recorded_at: or(o['recorded_at'], 'recorded_at', ErrorMessage_run, null),
  yours: boolean(o['yours'], 'yours'),
  deletable: boolean(o['deletable'], 'deletable'),
}));

export const readDeleted: Read<wire.Deleted> = shape((o) => ({
  deleted: string(o['deleted'], 'deleted'),
}));

export const readSide: Read<wire.Side> = shape((o) => ({
  created: string(o['created'], 'created'),
  clock: ClassTry_clock(o['clock'], 'clock'),
  workload: ErrorMessage_run(o['workload'], 'workload'),
  params: ClassTry_params(o['params'], 'params'),
  arms: Build_arms(o['arms'], 'arms'),
  host: Made_host(o['host'], 'host'),
}));

const Comparison_sides = list(readSide);

const Difference_of = oneOf('run', 'kernel', 'config', 'patches', 'build', 'host', 'programs');

export const readDifference: Read<wire.Difference> = shape((o) => ({
  of: Difference_of(o['of'], 'of'),
  what: string(o['what'], 'what'),
  arm: string(o['arm'], 'arm'),
  recorded: string(o['recorded'], 'recorded'),
  now: string(o['now'], 'now'),
}));

const Comparison_differences = list(readDifference);

export const readFigurePair: Read<wire.FigurePair> = shape((o) => ({
  arm: string(o['arm'], 'arm'),
  figure: string(o['figure'], 'figure'),
  recorded: Batch_newest_event_host_ms(o['recorded'], 'recorded'),
  now: Batch_newest_event_host_ms(o['now'], 'now'),
  ratio: Batch_newest_event_host_ms(o['ratio'], 'ratio'),
}));

const Comparison_figures = list(readFigurePair);

const Comparison_only_value = oneOf('first', 'second');

const Comparison_only = map(Comparison_only_value);

export const readComparison: Read<wire.Comparison> = shape((o) => ({
  lesson: string(o['lesson'], 'lesson'),
  sides: Comparison_sides(o['sides'], 'sides'),
  differences: Comparison_differences(o['differences'], 'differences'),
  figures: Comparison_figures(o['figures'], 'figures'),
  only: Comparison_only(o['only'], 'only'),
  worth: string(o['worth'], 'worth'),
}));

export const readSourceRegion: Read<wire.SourceRegion> = shape((o) => ({
  title: string(o['title'], 'title'),
  first: Problem_line(o['first'], 'first'),
  last: Problem_line(o['last'], 'last'),
}));

const SourceFile_regions = list(readSourceRegion);

export const readSourceFile: Read<wire.SourceFile> = shape((o) => ({
  name: string(o['name'], 'name'),
  text: string(o['text'], 'text'),
  regions: SourceFile_regions(o['regions'], 'regions'),
}));

const ArmSource_files = list(readSourceFile);

export const readArmSource: Read<wire.ArmSource> = shape((o) => ({
  arm: string(o['arm'], 'arm'),
  off: string(o['off'], 'off'),
  files: ArmSource_files(o['files'], 'files'),
}));

export const readFailure: Read<wire.Failure> = shape((o) => ({
  code: string(o['code'], 'code'),
  sentence: string(o['sentence'], 'sentence'),
  remedy: string(o['remedy'], 'remedy'),
  detail: or(o['detail'], 'detail', string, ''),
  run: or(o['run'], 'run', ErrorMessage_run, null),
}));

export const readFailureBody: Read<wire.FailureBody> = shape((o) => ({
  error: readFailure(o['error'], 'error'),
}));

export const readClassLine: Read<wire.ClassLine> = shape((o) => ({
  class_id: string(o['class_id'], 'class_id'),
  title: string(o['title'], 'title'),
  lesson: string(o['lesson'], 'lesson'),
  code: string(o['code'], 'code'),
  open: boolean(o['open'], 'open'),
  started_at: string(o['started_at'], 'started_at'),
  members: integer(o['members'], 'members'),
}));

const ReportRound_marks = list(MeasuredRow_ops_per_s);

export const readReportRound: Read<wire.ReportRound> = shape((o) => ({
  round: integer(o['round'], 'round'),
  answers: integer(o['answers'], 'answers'),
  right: ClassAnswered_choice(o['right'], 'right'),
  counts: ClassTry_params(o['counts'], 'counts'),
  marks: ReportRound_marks(o['marks'], 'marks'),
}));

const ReportQuestion_rounds = list(readReportRound);

export const readReportQuestion: Read<wire.ReportQuestion> = shape((o) => ({
  step: string(o['step'], 'step'),
  question: string(o['question'], 'question'),
  text: string(o['text'], 'text'),
  options: Build_arms(o['options'], 'options'),
  rounds: ReportQuestion_rounds(o['rounds'], 'rounds'),
  changed: integer(o['changed'], 'changed'),
}));

const ClassReport_questions = list(readReportQuestion);

export const readReportRaised: Read<wire.ReportRaised> = shape((o) => ({
  step: string(o['step'], 'step'),
  text: string(o['text'], 'text'),
  votes: integer(o['votes'], 'votes'),
  answered: boolean(o['answered'], 'answered'),
}));

const ClassReport_raised = list(readReportRaised);

export const readReportLost: Read<wire.ReportLost> = shape((o) => ({
  at_s: integer(o['at_s'], 'at_s'),
  step: string(o['step'], 'step'),
  count: integer(o['count'], 'count'),
}));

const ClassReport_lost = list(readReportLost);

export const readReportTry: Read<wire.ReportTry> = shape((o) => ({
  number: integer(o['number'], 'number'),
  lesson: string(o['lesson'], 'lesson'),
  step: string(o['step'], 'step'),
  makers: integer(o['makers'], 'makers'),
  turned: ClassTry_params(o['turned'], 'turned'),
  summary: string(o['summary'], 'summary'),
  workload: string(o['workload'], 'workload'),
  clock: string(o['clock'], 'clock'),
  run: string(o['run'], 'run'),
  state: string(o['state'], 'state'),
  sentence: string(o['sentence'], 'sentence'),
  title: string(o['title'], 'title'),
  unit: string(o['unit'], 'unit'),
  values: Sample_facts(o['values'], 'values'),
  ratio: Batch_newest_event_host_ms(o['ratio'], 'ratio'),
}));

const ClassReport_tries = list(readReportTry);

export const readClassReport: Read<wire.ClassReport> = shape((o) => ({
  class_id: string(o['class_id'], 'class_id'),
  title: string(o['title'], 'title'),
  lesson: string(o['lesson'], 'lesson'),
  members: integer(o['members'], 'members'),
  started_at: string(o['started_at'], 'started_at'),
  lasted_s: number(o['lasted_s'], 'lasted_s'),
  open: boolean(o['open'], 'open'),
  questions: ClassReport_questions(o['questions'], 'questions'),
  raised: ClassReport_raised(o['raised'], 'raised'),
  lost: ClassReport_lost(o['lost'], 'lost'),
  tries: ClassReport_tries(o['tries'], 'tries'),
}));

export const readLabLine: Read<wire.LabLine> = shape((o) => ({
  slug: string(o['slug'], 'slug'),
  title: string(o['title'], 'title'),
  lesson: string(o['lesson'], 'lesson'),
  deadline: ErrorMessage_run(o['deadline'], 'deadline'),
  points: number(o['points'], 'points'),
  tasks: integer(o['tasks'], 'tasks'),
}));

const LabTask_kind = oneOf('predict', 'point', 'explain', 'measure', 'challenge');

const LabTask_feedback = oneOf('now', 'later');

export const readLabTask: Read<wire.LabTask> = shape((o) => ({
  name: string(o['name'], 'name'),
  kind: LabTask_kind(o['kind'], 'kind'),
  title: string(o['title'], 'title'),
  lesson: string(o['lesson'], 'lesson'),
  step: ErrorMessage_run(o['step'], 'step'),
  ask: string(o['ask'], 'ask'),
  choices: Build_arms(o['choices'], 'choices'),
  unit: string(o['unit'], 'unit'),
  chars: ClassAnswered_choice(o['chars'], 'chars'),
  limits: Build_arms(o['limits'], 'limits'),
  question: ClassAnswered_choice(o['question'], 'question'),
  challenge: ErrorMessage_run(o['challenge'], 'challenge'),
  points: number(o['points'], 'points'),
  attempts: ClassAnswered_choice(o['attempts'], 'attempts'),
  feedback: LabTask_feedback(o['feedback'], 'feedback'),
}));

const LabView_tasks = list(readLabTask);

export const readLabView: Read<wire.LabView> = shape((o) => ({
  slug: string(o['slug'], 'slug'),
  title: string(o['title'], 'title'),
  intro: string(o['intro'], 'intro'),
  deadline: ErrorMessage_run(o['deadline'], 'deadline'),
  closes: ErrorMessage_run(o['closes'], 'closes'),
  open: boolean(o['open'], 'open'),
  points: number(o['points'], 'points'),
  tasks: LabView_tasks(o['tasks'], 'tasks'),
}));

const MyTask_state = oneOf('open', 'answered', 'ungraded', 'scored');

export const readMarkGiven: Read<wire.MarkGiven> = shape((o) => ({
  run: string(o['run'], 'run'),
  arm: string(o['arm'], 'arm'),
  kind: string(o['kind'], 'kind'),
  t0_ns: number(o['t0_ns'], 't0_ns'),
  t1_ns: number(o['t1_ns'], 't1_ns'),
}));

const AnswerGiven_mark = maybe(readMarkGiven);

export const readAnswerGiven: Read<wire.AnswerGiven> = shape((o) => ({
  choice: or(o['choice'], 'choice', ClassAnswered_choice, null),
  value: or(o['value'], 'value', Batch_newest_event_host_ms, null),
  text: or(o['text'], 'text', ErrorMessage_run, null),
  run: or(o['run'], 'run', ErrorMessage_run, null),
  arm: or(o['arm'], 'arm', ErrorMessage_run, null),
  mark: or(o['mark'], 'mark', AnswerGiven_mark, null),
}));

export const readMyAttempt: Read<wire.MyAttempt> = shape((o) => ({
  number: integer(o['number'], 'number'),
  at: string(o['at'], 'at'),
  answer: readAnswerGiven(o['answer'], 'answer'),
  found: Build_arms(o['found'], 'found'),
  run: ErrorMessage_run(o['run'], 'run'),
  points: Batch_newest_event_host_ms(o['points'], 'points'),
  comment: string(o['comment'], 'comment'),
}));

const MyTask_attempts = list(readMyAttempt);

export const readMyTask: Read<wire.MyTask> = shape((o) => ({
  task: string(o['task'], 'task'),
  made: integer(o['made'], 'made'),
  left: ClassAnswered_choice(o['left'], 'left'),
  state: MyTask_state(o['state'], 'state'),
  points: Batch_newest_event_host_ms(o['points'], 'points'),
  right: ErrorMessage_run(o['right'], 'right'),
  why: ErrorMessage_run(o['why'], 'why'),
  rubric: Build_arms(o['rubric'], 'rubric'),
  attempts: MyTask_attempts(o['attempts'], 'attempts'),
}));

const MyLab_tasks = list(readMyTask);

export const readMyLab: Read<wire.MyLab> = shape((o) => ({
  lab: string(o['lab'], 'lab'),
  name: ErrorMessage_run(o['name'], 'name'),
  named: boolean(o['named'], 'named'),
  points: Batch_newest_event_host_ms(o['points'], 'points'),
  tasks: MyLab_tasks(o['tasks'], 'tasks'),
}));

const TaskPoints_state = oneOf('open', 'scored', 'ungraded');

export const readTaskPoints: Read<wire.TaskPoints> = shape((o) => ({
  task: string(o['task'], 'task'),
  points: number(o['points'], 'points'),
  most: number(o['most'], 'most'),
  state: TaskPoints_state(o['state'], 'state'),
}));

const PersonScore_tasks = list(readTaskPoints);

export const readPersonScore: Read<wire.PersonScore> = shape((o) => ({
  person: string(o['person'], 'person'),
  name: string(o['name'], 'name'),
  points: number(o['points'], 'points'),
  most: number(o['most'], 'most'),
  complete: boolean(o['complete'], 'complete'),
  late: integer(o['late'], 'late'),
  at: string(o['at'], 'at'),
  tasks: PersonScore_tasks(o['tasks'], 'tasks'),
}));

const LabScores_people = list(readPersonScore);

export const readLabScores: Read<wire.LabScores> = shape((o) => ({
  lab: string(o['lab'], 'lab'),
  title: string(o['title'], 'title'),
  most: number(o['most'], 'most'),
  people: LabScores_people(o['people'], 'people'),
}));

export const readRecordedAttempt: Read<wire.RecordedAttempt> = shape((o) => ({
  number: integer(o['number'], 'number'),
  task: string(o['task'], 'task'),
  answer: readAnswerGiven(o['answer'], 'answer'),
  found: Build_arms(o['found'], 'found'),
  run: ErrorMessage_run(o['run'], 'run'),
  at: string(o['at'], 'at'),
  counts: boolean(o['counts'], 'counts'),
  sha256: string(o['sha256'], 'sha256'),
  share: Batch_newest_event_host_ms(o['share'], 'share'),
  grade: Batch_newest_event_host_ms(o['grade'], 'grade'),
  comment: string(o['comment'], 'comment'),
}));

const PersonRecord_attempts = list(readRecordedAttempt);

export const readPersonRecord: Read<wire.PersonRecord> = shape((o) => ({
  person: string(o['person'], 'person'),
  name: string(o['name'], 'name'),
  broken: string(o['broken'], 'broken'),
  attempts: PersonRecord_attempts(o['attempts'], 'attempts'),
}));

const LabRecord_people = list(readPersonRecord);

export const readLabRecord: Read<wire.LabRecord> = shape((o) => ({
  lab: string(o['lab'], 'lab'),
  rubrics: Litmus_program(o['rubrics'], 'rubrics'),
  people: LabRecord_people(o['people'], 'people'),
}));

export const readServerMessage: Read<wire.ServerWire> = tagged<wire.ServerWire>({
  batch: readBatch,
  begun: readBegun,
  build: readBuild,
  changed: readChanged,
  class: readClassState,
  class_answered: readClassAnswered,
  class_confusion: readClassConfusion,
  class_opened: readClassOpened,
  class_own: readClassOwn,
  class_place: readClassPlace,
  class_question: readClassQuestion,
  class_raised: readClassRaised,
  class_roster: readClassRoster,
  class_seen: readClassSeen,
  class_tally: readClassTally,
  class_timer: readClassTimer,
  class_tries: readClassTries,
  class_watched: readClassWatched,
  class_watching: readClassWatching,
  class_welcome: readClassWelcome,
  control: readControl,
  error: readErrorMessage,
  gap: readGap,
  heartbeat: readHeartbeat,
  held: readHeld,
  hello: readHello,
  judged: readJudged,
  lane: readLane,
  lens: readLens,
  lesson: readLessonMessage,
  line: readLine,
  loss: readLoss,
  measured: readMeasured,
  metrics: readMetrics,
  reading: readReading,
  rows: readRows,
  run: readRun,
  runs: readRuns,
  sample: readSample,
  segments: readSegments,
});
