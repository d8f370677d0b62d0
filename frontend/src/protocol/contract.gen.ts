// SPDX-License-Identifier: GPL-2.0-or-later
/** Generated from contract.schema.json by `make contract`. Do not edit. */

export const protocolVersion = 3;

export type ServerWire =
  | Batch
  | Begun
  | Build
  | Changed
  | ClassState
  | ClassAnswered
  | ClassConfusion
  | ClassOpened
  | ClassOwn
  | ClassPlace
  | ClassQuestion
  | ClassRaised
  | ClassRoster
  | ClassSeen
  | ClassTally
  | ClassTimer
  | ClassTries
  | ClassWatched
  | ClassWatching
  | ClassWelcome
  | Control
  | ErrorMessage
  | Gap
  | Heartbeat
  | Held
  | Hello
  | Judged
  | Lane
  | Lens
  | LessonMessage
  | Line
  | Loss
  | Measured
  | Metrics
  | Reading
  | Rows
  | Run
  | Runs
  | Sample
  | Segments;
export type ClientWire =
  | Ack
  | Do
  | Again
  | Change
  | Answer
  | AskClass
  | Confused
  | Consent
  | CountDown
  | Drive
  | EndClass
  | Follow
  | ForgetMe
  | HandWheel
  | ShowPlace
  | JoinClass
  | LeaveClass
  | OpenStep
  | RaiseQuestion
  | RemoveMember
  | ResumeClass
  | Reveal
  | SettleRaised
  | ShowGallery
  | ShowRaised
  | StartClass
  | TakeBackTry
  | TryRun
  | Upvote
  | WatchMember
  | TakeControl
  | DropChange
  | Hold
  | Judge
  | Measure
  | Open
  | Start
  | Stop;

export interface Contract {
  server: ServerWire;
  client: ClientWire;
}
/**
 * New rows of one table. Each column is raw little-endian bytes with `n` values.
 */
export interface Batch {
  type: 'batch';
  run_id: string;
  arm: string;
  /**
   * spans, ops, links; rows of open replace the previous ones
   */
  table: string;
  /**
   * sequence number of the batch in its lane and table, from 0
   */
  seq: number;
  n: number;
  /**
   * time up to which the lane's data are complete
   */
  watermark_ns: number;
  columns: {
    [k: string]: Uint8Array;
  };
  dtypes: {
    [k: string]: 'f8' | 'i4' | 'u1' | 'u4' | 'i2';
  };
  /**
   * Unix time in ns when the server encoded it
   */
  sent_ns: number;
  /**
   * estimated Unix time in ms of the batch's newest event
   */
  newest_event_host_ms: number | null;
}
/**
 * A run that this page requested begins; its messages follow, and the page shows it.
 */
export interface Begun {
  type: 'begun';
  run_id: string;
}
/**
 * Progress of a kernel build; latest wins per arm.
 */
export interface Build {
  type: 'build';
  lesson: string;
  /**
   * all arms that are being built or are queued
   */
  arms: string[];
  arm: string;
  phase: 'wait' | 'extract' | 'patch' | 'config' | 'compile' | 'link' | 'store' | 'done' | 'failed';
  done: number;
  total: number;
  elapsed_s: number;
  message: string;
  error: ErrorMessage | null;
}
/**
 * An error for the viewer.
 */
export interface ErrorMessage {
  type: 'error';
  code: string;
  sentence: string;
  remedy: string;
  detail: string;
  /**
   * id of the requested run that failed or is incomplete
   */
  run: string | null;
}
/**
 * Progress of a visitor's change; latest wins per arm. Sent to the visitor's pages only.
 *
 * By the phase `wait` the lesson has been sent again, with the new arm. `start` and `measure`
 * accept the arm once it is `built`.
 */
export interface Changed {
  type: 'changed';
  lesson: string;
  /**
   * the arm that was changed
   */
  base: string;
  /**
   * name of the visitor's own arm; '': the change was refused
   */
  arm: string;
  phase:
    | 'refused'
    | 'wait'
    | 'extract'
    | 'patch'
    | 'config'
    | 'compile'
    | 'link'
    | 'store'
    | 'built'
    | 'failed';
  /**
   * builds ahead of it in the queue
   */
  ahead: number;
  /**
   * compiled objects
   */
  done: number;
  /**
   * expected objects
   */
  total: number;
  /**
   * time since the change was requested
   */
  elapsed_s: number;
  message: string;
  error: ErrorMessage | null;
  problems: Problem[];
}
/**
 * A message of the compiler or patch(1) about a line.
 */
export interface Problem {
  /**
   * path relative to the kernel's source
   */
  file: string;
  /**
   * line number in the changed file
   */
  line: number;
  /**
   * column from 1; 0: the whole line
   */
  column: number;
  severity: 'error' | 'warning';
  text: string;
}
/**
 * The class; latest wins. Sent to each of its pages.
 */
export interface ClassState {
  type: 'class';
  class_id: string;
  title: string;
  lesson: string;
  /**
   * three words with - between
   */
  code: string;
  /**
   * relative to the page's folder: ?class=CODE
   */
  link: string;
  /**
   * false: it has ended, or this page left it
   */
  open: boolean;
  part: 'instructor' | 'member';
  /**
   * this page may send class_drive
   */
  driving: boolean;
  /**
   * name of who drives; empty: the instructor
   */
  driver: string;
  /**
   * its id; empty: the instructor
   */
  driver_member: string;
  members: number;
  connected: number;
}
/**
 * An answer is stored on disk; sent to its member, and again for each answer when the
 * member returns.
 */
export interface ClassAnswered {
  type: 'class_answered';
  class_id: string;
  step: string;
  question: string;
  round: number;
  choice: number | null;
  value: number | null;
  mark: Pointed | null;
}
/**
 * Where a person pointed.
 */
export interface Pointed {
  x: number;
  y: number;
  arm: string;
  row: number | null;
  t_ns: number | null;
}
/**
 * The curve of confusion, to the instructor; latest wins.
 */
export interface ClassConfusion {
  type: 'class_confusion';
  class_id: string;
  points: Confusion[];
}
/**
 * How many members were lost in ten seconds.
 */
export interface Confusion {
  /**
   * seconds since the class began, a multiple of 10
   */
  at_s: number;
  count: number;
  /**
   * where the driver was
   */
  step: string;
}
/**
 * Where the class may try; latest wins. Sent to each of its pages.
 */
export interface ClassOpened {
  type: 'class_opened';
  class_id: string;
  steps: OpenedStep[];
  /**
   * members see what all have tried, not their own alone
   */
  gallery: boolean;
  /**
   * why nobody can try here, a sentence; empty: they can
   */
  no_runs: string;
  /**
   * why no patch can be changed here; empty: it can
   */
  no_patches: string;
}
/**
 * A step that is open.
 */
export interface OpenedStep {
  lesson: string;
  step: string;
  patches: boolean;
}
/**
 * To the pages of one member: their questions, as stored, and their votes.
 */
export interface ClassOwn {
  type: 'class_own';
  class_id: string;
  asked: Raised[];
  /**
   * numbers of questions
   */
  voted: number[];
}
/**
 * A question of a member; nothing here says whose it is.
 */
export interface Raised {
  number: number;
  /**
   * on which it was asked
   */
  step: string;
  text: string;
  votes: number;
  answered: boolean;
  /**
   * only the instructor and who asked it have it
   */
  hidden: boolean;
}
/**
 * The driver's position; latest wins. Sent to newcomers and reconnecting pages at once.
 */
export interface ClassPlace {
  lesson: string;
  step: string;
  place: string;
  moment_ns: number | null;
  mode: 'play' | 'paused' | 'scope';
  direction: number;
  speed: number | null;
  type: 'class_place';
  spotlight: Spot | null;
  class_id: string;
  /**
   * rises with each place; also over a restart of the server
   */
  number: number;
  /**
   * since the driver sent it; a page that plays adds it
   */
  age_s: number;
  /**
   * Unix time in ns when the server sent it
   */
  sent_ns: number;
}
/**
 * The driver's spotlight.
 */
export interface Spot {
  arm: string;
  row: number | null;
  t_ns: number | null;
}
/**
 * A question that was asked; latest wins per (step, question). To all.
 */
export interface ClassQuestion {
  type: 'class_question';
  class_id: string;
  /**
   * empty: a free poll
   */
  step: string;
  question: string;
  text: string;
  options: string[];
  /**
   * that is open, or was the last
   */
  round: number;
  revealed: boolean;
}
/**
 * Questions of members, those with the most votes first; latest wins.
 *
 * The instructor has all of them, members those that are not hidden, once they are shown.
 */
export interface ClassRaised {
  type: 'class_raised';
  class_id: string;
  /**
   * to all members
   */
  shown: boolean;
  questions: Raised[];
}
/**
 * All members, to the instructor, at most once a second; latest wins.
 */
export interface ClassRoster {
  type: 'class_roster';
  class_id: string;
  members: RosterMember[];
}
/**
 * A member as the instructor sees it.
 */
export interface RosterMember {
  member: string;
  name: string;
  connected: boolean;
  /**
   * false: explores
   */
  following: boolean;
  step: string;
  /**
   * since the member's last command, when this was sent
   */
  idle_s: number;
  driving: boolean;
  /**
   * questions answered in any round
   */
  answered: number;
}
/**
 * The observed member's position, to the page that observes; latest wins.
 */
export interface ClassSeen {
  lesson: string;
  step: string;
  place: string;
  moment_ns: number | null;
  mode: 'play' | 'paused' | 'scope';
  direction: number;
  speed: number | null;
  type: 'class_seen';
  class_id: string;
  member: string;
  /**
   * rises with each place
   */
  number: number;
  age_s: number;
  /**
   * Unix time in ns when the server sent it
   */
  sent_ns: number;
}
/**
 * The answers so far; latest wins per (step, question).
 *
 * To the instructor live, at most 4 a second; to everyone once revealed, never before.
 */
export interface ClassTally {
  type: 'class_tally';
  class_id: string;
  step: string;
  question: string;
  revealed: boolean;
  rounds: TallyRound[];
}
/**
 * One round.
 */
export interface TallyRound {
  round: number;
  answers: number;
  bars: Bar[];
  /**
   * without names
   */
  marks: Pointed[];
  /**
   * how many were right; null: nobody was judged
   */
  right: number | null;
}
/**
 * How many members gave one answer.
 */
export interface Bar {
  /**
   * number of the option; null: this is a value
   */
  choice: number | null;
  value: number | null;
  count: number;
}
/**
 * The timer on all screens; latest wins. A page counts down by its own clock.
 */
export interface ClassTimer {
  type: 'class_timer';
  class_id: string;
  /**
   * for which it was set, with what was added; 0: none is set
   */
  length_s: number;
  /**
   * Unix time in ns; null: there is no timer
   */
  ends_ns: number | null;
  /**
   * Unix time in ns when the server sent this
   */
  sent_ns: number;
}
/**
 * The tries that this page may see; latest wins, at most two a second.
 */
export interface ClassTries {
  type: 'class_tries';
  class_id: string;
  tries: ClassTry[];
}
/**
 * A run that members requested.
 */
export interface ClassTry {
  number: number;
  lesson: string;
  step: string;
  /**
   * the first one first
   */
  makers: Maker[];
  arms: string[];
  params: {
    [k: string]: number;
  };
  turned: {
    [k: string]: number;
  };
  workload: string;
  clock: 'wall' | 'count';
  /**
   * of the changed patch in one line; empty: none was changed
   */
  summary: string;
  /**
   * id of the run, live and saved
   */
  run: string;
  state: 'waiting' | 'running' | 'done' | 'failed';
  /**
   * in the queue; null: it waits behind its maker's others
   */
  place: number | null;
  /**
   * until it starts, when this was sent
   */
  estimate_s: number | null;
  /**
   * why it failed, or some of its lanes
   */
  sentence: string;
  result: TryResult | null;
}
/**
 * A member who requested a run.
 */
export interface Maker {
  member: string;
  name: string;
}
/**
 * The one number of a traced run: it explains, and proves nothing.
 */
export interface TryResult {
  title: string;
  unit: string;
  better: 'higher' | 'lower' | 'neither';
  /**
   * at most two: what is compared, and with what
   */
  lanes: TryLane[];
  /**
   * second over first; null: there are no two
   */
  ratio: number | null;
}
/**
 * The number of one lane.
 */
export interface TryLane {
  arm: string;
  title: string;
  value: number;
}
/**
 * To the pages of one member: does the instructor observe them? Latest wins.
 */
export interface ClassWatched {
  type: 'class_watched';
  class_id: string;
  phase: 'none' | 'asking' | 'watched';
  /**
   * what the member said in this class; null: nothing
   */
  allowed: boolean | null;
}
/**
 * To the page of the instructor that asked; latest wins.
 */
export interface ClassWatching {
  type: 'class_watching';
  class_id: string;
  /**
   * empty: nobody is watched
   */
  member: string;
  name: string;
  /**
   * refused: the member does not want it, or not any more; away: it has no page
   */
  phase: 'none' | 'asking' | 'watched' | 'refused' | 'away';
}
/**
 * This page is in the class now. `class`, `class_place` and all `class_question` follow.
 */
export interface ClassWelcome {
  type: 'class_welcome';
  class_id: string;
  part: 'instructor' | 'member';
  /**
   * id of the member; empty: the instructor
   */
  member: string;
  /**
   * as the class sees it, with a suffix if it was taken
   */
  name: string;
  /**
   * of the member, to come back by; the page stores it. Empty: the instructor
   */
  secret: string;
}
/**
 * The visitor in control of the live run that this page watches; latest wins.
 */
export interface Control {
  type: 'control';
  run_id: string;
  by: 'you' | 'other' | 'nobody';
  /**
   * true: this visitor may take control
   */
  may_take: boolean;
  /**
   * true: this visitor requested the run
   */
  yours: boolean;
}
/**
 * Batches that this viewer does not get, because its outbox or the replay buffer was full.
 */
export interface Gap {
  type: 'gap';
  run_id: string;
  arm: string;
  table: string;
  from_seq: number;
  /**
   * inclusive
   */
  to_seq: number;
  rows: number;
}
/**
 * Sent on an otherwise idle connection, as a sign that connection and server work.
 */
export interface Heartbeat {
  type: 'heartbeat';
}
/**
 * Hold state of a lane; latest wins. A guest stops some accesses after the request.
 */
export interface Held {
  type: 'held';
  run_id: string;
  arm: string;
  phase: 'waiting' | 'held' | 'going';
  /**
   * requested number of further accesses before the guest stops
   */
  after: number;
  /**
   * accesses to the object when the hold was requested
   */
  asked: number | null;
  /**
   * exact number of accesses to the object when it stopped
   */
  stood: number | null;
  /**
   * why the guest resumed, if no viewer resumed it
   */
  message: string;
}
/**
 * The first message to every viewer.
 */
export interface Hello {
  type: 'hello';
  protocol: number;
  version: string;
  /**
   * name of this page in the server's log
   */
  viewer: string;
  /**
   * false: this server shows recordings only
   */
  live: boolean;
  role: 'viewer' | 'student' | 'instructor' | 'operator';
  denied: {
    watch?: string;
    run?: string;
    change?: string;
    answer?: string;
    control_others?: string;
    teach?: string;
    measure?: string;
    delete_others?: string;
  };
  lessons: LessonCard[];
}
/**
 * A lesson in the list of Hello.
 */
export interface LessonCard {
  slug: string;
  title: string;
  question: string;
  /**
   * true: all kernels of the lesson are built
   */
  available: boolean;
  /**
   * true: the lesson has a view; false: it has only numbers
   */
  picture: boolean;
}
/**
 * Progress and result of a judgement; latest wins per challenge. Sent to its requester.
 */
export interface Judged {
  type: 'judged';
  lesson: string;
  challenge: string;
  arm: string;
  phase: 'waiting' | 'measuring' | 'building' | 'stress' | 'done' | 'failed';
  /**
   * finished guests
   */
  done: number;
  total: number;
  /**
   * null until the phase is done
   */
  met: boolean | null;
  /**
   * the reason, one sentence
   */
  because: string;
  lines: JudgedLine[];
  error: ErrorMessage | null;
}
/**
 * One criterion of a judgement.
 */
export interface JudgedLine {
  kind: 'goal' | 'rule' | 'without' | 'order' | 'stress';
  /**
   * the criterion in words
   */
  says: string;
  /**
   * limits of a goal or rule; else ''
   */
  wanted: string;
  found: string;
  /**
   * null: it cannot be judged on this server
   */
  holds: boolean | null;
}
/**
 * State of one lane; latest wins.
 */
export interface Lane {
  type: 'lane';
  run_id: string;
  arm: string;
  phase:
    | 'waiting'
    | 'building'
    | 'booting'
    | 'ready'
    | 'running'
    | 'draining'
    | 'done'
    | 'stopped'
    | 'failed';
  message: string;
  remedy: string;
  /**
   * end of the console or the log; shown on demand
   */
  detail: string;
  accel: string | null;
  /**
   * pid of the guest's QEMU, while it runs
   */
  pid: number | null;
  /**
   * uname -r of the guest
   */
  kernel: string | null;
  boot_s: number | null;
  /**
   * true: a copy of a template; boot_s is the time that it took
   */
  cloned: boolean;
  /**
   * null: not measured, as on the count clock, which it cannot harm
   */
  contention: Contention | null;
}
/**
 * CPU time that a lane's vCPUs got and waited for, since its workload's start.
 *
 * A run is distorted if its lanes together waited for more than `bound` of that time.
 */
export interface Contention {
  /**
   * seconds on a CPU, summed over all vCPUs
   */
  ran_s: number;
  /**
   * seconds in which a vCPU was runnable without a CPU, or it was stolen
   */
  waited_s: number;
  /**
   * share of waiting above which times are distorted, 0 to 1
   */
  bound: number;
}
/**
 * State of a lane's lens; latest wins.
 */
export interface Lens {
  type: 'lens';
  run_id: string;
  arm: string;
  lens: 'xray' | 'microscope';
  state: 'off' | 'attaching' | 'on' | 'failed';
  /**
   * how it reads: from the memory of QEMU's process (fast), or over QMP (slow)
   */
  route: 'memory' | 'qmp' | 'unknown';
  message: string;
  remedy: string;
  samples: number;
  torn: number;
  failed: number;
  /**
   * samples that were due but not taken
   */
  dropped: number;
}
/**
 * Answer to `open`: the lesson's files with patch texts and prose.
 */
export interface LessonMessage {
  type: 'lesson';
  lesson: Record<string, unknown>;
}
/**
 * One output line of the workload, verbatim.
 */
export interface Line {
  type: 'line';
  run_id: string;
  arm: string;
  stream: 'out' | 'err';
  text: string;
  t_ns: number;
}
/**
 * Events that were lost before they reached the server.
 */
export interface Loss {
  type: 'loss';
  run_id: string;
  arm: string;
  t0_ns: number;
  t1_ns: number;
  /**
   * number of lost events; null: not known
   */
  events: number | null;
  where: 'ring buffer' | 'kprobe' | 'host';
}
/**
 * A measured table, complete or in progress.
 */
export interface Measured {
  lesson: string;
  run_id: string | null;
  source: 'live' | 'recorded';
  clock: 'wall' | 'count';
  params: {
    [k: string]: number;
  };
  workload: string;
  /**
   * name of the metric in the lesson
   */
  metric: string;
  /**
   * title of the metric
   */
  title: string;
  /**
   * which values of the metric are better
   */
  better: 'higher' | 'lower' | 'neither';
  /**
   * values are in the row's `unit`, even in keys named `ops_per_s`
   */
  rows: MeasuredRow[];
  /**
   * ISO 8601 UTC
   */
  at: string;
  verdict: string;
  host: string;
  /**
   * command that reproduces the table
   */
  command: string;
  /**
   * finished runs
   */
  done: number;
  /**
   * planned runs; done < total: still measuring
   */
  total: number;
  /**
   * provenance of a recorded table; null: measured just now
   */
  made: Made | null;
  /**
   * sentences, such as that arms on different bases differ by more than one patch
   */
  warnings: string[];
  type: 'measured';
}
/**
 * One arm of a measured table.
 */
export interface MeasuredRow {
  arm: string;
  n: number;
  ops_per_s_median: number | null;
  ops_per_s_mean: number | null;
  /**
   * lower end of the 95 % interval
   */
  ops_per_s_low: number | null;
  ops_per_s_high: number | null;
  ops_per_s: number[];
  unit: string;
  /**
   * the arm that this row is compared with
   */
  to: string | null;
  change_percent: number | null;
  verdict: string;
  /**
   * count clock: one value for each perturbed start
   */
  perturbed: number[];
}
/**
 * Provenance of a recorded table.
 */
export interface Made {
  arms: MadeArm[];
  host: {
    [k: string]: string;
  };
  /**
   * 2^shift ns an instruction; null on the wall clock
   */
  shift: number | null;
  /**
   * random seeds of the perturbed starts
   */
  seeds: number[];
}
/**
 * The kernel of one arm.
 */
export interface MadeArm {
  arm: string;
  /**
   * key of the build in the store of kernels
   */
  key: string;
  /**
   * output of `uname -r`
   */
  kernel: string;
  /**
   * hash of the requested configuration options
   */
  config_sha256: string;
  compiler: string;
  /**
   * all patches, in order
   */
  patches: MadePatch[];
}
/**
 * One patch of a kernel.
 */
export interface MadePatch {
  /**
   * relative to kernel-patches/
   */
  path: string;
  /**
   * hash of the diff
   */
  sha256: string;
}
/**
 * Counts so far of one lane; latest wins.
 */
export interface Metrics {
  type: 'metrics';
  run_id: string;
  arm: string;
  watermark_ns: number;
  /**
   * guest's monotonic clock at time 0 of the lane; null: not known
   */
  start_ns: number | null;
  ops: number;
  spans: {
    [k: string]: number;
  };
  events_read: number;
  events_lost: number;
  /**
   * finished cycles of the lesson's first track
   */
  cycles: number;
  wait_ns: Waits;
}
/**
 * Quantiles of the lesson's waits in ns; null if there were none.
 */
export interface Waits {
  p50: number | null;
  p95: number | null;
  max: number | null;
  n: number;
}
/**
 * Progress of reading a recording; sent between its batches.
 */
export interface Reading {
  type: 'reading';
  run_id: string;
  /**
   * decoded bytes of the transcripts, at least
   */
  read: number;
  /**
   * all bytes of the transcripts; 0: not known yet
   */
  total: number;
  /**
   * true: no more batches follow
   */
  whole: boolean;
}
/**
 * All known rows of a lane; replaces the previous list.
 */
export interface Rows {
  type: 'rows';
  run_id: string;
  arm: string;
  rows: Row[];
}
/**
 * A row of a lane: a thread of the workload, another process of it, or a track.
 */
export interface Row {
  row: number;
  tid: number;
  name: string;
  role: 'thread' | 'other' | 'track';
}
/**
 * State of a run; latest wins.
 */
export interface Run {
  type: 'run';
  run_id: string;
  lesson: string;
  source: 'live' | 'recorded';
  purpose: 'explain' | 'measure';
  clock: 'wall' | 'count';
  /**
   * count clock: 2^shift ns an instruction
   */
  shift: number;
  params: {
    [k: string]: number;
  };
  workload: string;
  arms: string[];
  phase: 'preparing' | 'booting' | 'ready' | 'running' | 'draining' | 'done' | 'stopped' | 'failed';
  /**
   * ISO 8601 UTC; null before the start
   */
  started_at: string | null;
  /**
   * ISO 8601 UTC of a recording
   */
  recorded_at: string | null;
  /**
   * true: the lanes ran one after another
   */
  apart: boolean;
  message: string;
}
/**
 * Live runs of this server, and the queued run of this visitor; latest wins.
 */
export interface Runs {
  type: 'runs';
  live: LiveRun[];
  waiting: WaitingRun | null;
}
/**
 * A live run in progress.
 */
export interface LiveRun {
  /**
   * id to open; after the run it opens the saved file
   */
  run_id: string;
  lesson: string;
  purpose: 'explain' | 'measure';
  arms: string[];
  workload: string;
  params: {
    [k: string]: number;
  };
  clock: 'wall' | 'count';
  yours: boolean;
}
/**
 * The queued run of this visitor.
 */
export interface WaitingRun {
  run_id: string;
  lesson: string;
  purpose: 'explain' | 'measure';
  arms: string[];
  /**
   * position in the queue; 1: the next to start
   */
  place: number;
  /**
   * length of the queue
   */
  waiting: number;
  /**
   * estimated time until the start
   */
  estimate_s: number;
  /**
   * purpose of the visitor's other queued request, which runs later
   */
  behind: ('explain' | 'measure') | null;
}
/**
 * One reading of a structure by the x-ray. The probe defines columns, facts and texts.
 *
 * At a given moment, the newest sample at or before it is valid.
 */
export interface Sample {
  type: 'sample';
  run_id: string;
  arm: string;
  probe: string;
  /**
   * sequence number of this probe's samples on this lane, from 0
   */
  seq: number;
  /**
   * guest time; negative before the start
   */
  t_ns: number;
  /**
   * largest error of t_ns, in either direction
   */
  error_ns: number;
  /**
   * source of t_ns: calibrated host time, or the guest's clock in its memory
   */
  clock: 'host' | 'guest';
  /**
   * host time that the reads took
   */
  took_ns: number;
  /**
   * repeated reads with different results, so far on this lane
   */
  torn: number;
  /**
   * failed reads, so far on this lane
   */
  failed: number;
  /**
   * number of rows
   */
  n: number;
  columns: {
    [k: string]: Uint8Array;
  };
  dtypes: {
    [k: string]: 'f8' | 'i4' | 'u1' | 'u4' | 'i2';
  };
  facts: {
    [k: string]: number;
  };
  /**
   * a name for each row, or an empty list
   */
  texts: string[];
}
/**
 * Available segments. A page applies them in order, before messages that follow this one.
 */
export interface Segments {
  type: 'segments';
  run_id: string;
  segments: SegmentLine[];
}
/**
 * One segment. Its URL is `segments/RUN/N-DIGEST`, relative to the page.
 */
export interface SegmentLine {
  /**
   * number of the segment in its run, from 0
   */
  n: number;
  /**
   * keyed hash of the content, which nobody can guess
   */
  digest: string;
  /**
   * compressed size
   */
  bytes: number;
  /**
   * time up to which all lanes of the segment are complete
   */
  through_ns: number;
}
/**
 * Acknowledge messages: the page has handled `n` in total. It limits how many are in flight.
 */
export interface Ack {
  type: 'ack';
  n: number;
}
/**
 * Perform one of the lesson's acts on the live run that this page watches.
 */
export interface Do {
  type: 'act';
  name: string;
  value?: number;
}
/**
 * Repeat the live run that this page watches, or the visitor's last live run.
 */
export interface Again {
  type: 'again';
}
/**
 * Build an arm with a change on top, for this visitor.
 *
 * Sending an equal change of an arm again does not start a second build. A new change replaces
 * the visitor's queued one.
 *
 * Args:
 *     arm: the lesson's arm to change.
 *     diff: output of `git diff` between the arm's sources and the changed sources.
 */
export interface Change {
  type: 'change';
  lesson: string;
  arm: string;
  diff: string;
}
/**
 * A member answers: one of choice, value and mark. A later answer of a round replaces it.
 *
 * Args:
 *     step: empty: a free poll.
 *     question: id of the prediction or poll.
 *     choice: number of the option, from 0.
 *     value: for a question about a number.
 *     right: the page's judgement, if the prediction has one; only shown in reports.
 */
export interface Answer {
  type: 'class_answer';
  step?: string;
  question: string;
  round?: number;
  choice?: number | null;
  value?: number | null;
  mark?: Mark | null;
  right?: boolean | null;
}
/**
 * As a member sends it.
 */
export interface Mark {
  x: number;
  y: number;
  arm?: string;
  row?: number | null;
  t_ns?: number | null;
}
/**
 * The instructor opens a question to the class, or its second round.
 *
 * Args:
 *     step: of a prediction of the lesson; empty: a free poll.
 *     question: the prediction's id (the page's), or a former poll's; empty: a new poll.
 *     round: 2 opens the second vote of think-pair-share.
 *     text: of a new poll.
 *     options: of a new poll, 2 to 6; for a prediction the labels of its choices, or none.
 */
export interface AskClass {
  type: 'class_ask';
  step?: string;
  question?: string;
  round?: number;
  text?: string;
  options?: string[];
}
/**
 * A member is lost at this moment. Counted without a name.
 */
export interface Confused {
  type: 'class_confused';
}
/**
 * A member allows the instructor to observe them in this class, or forbids it.
 */
export interface Consent {
  type: 'class_consent';
  allowed: boolean;
}
/**
 * The instructor starts the timer, extends it, or stops it.
 *
 * Args:
 *     act: start resets it.
 *     seconds: from now, or added.
 */
export interface CountDown {
  type: 'class_count_down';
  act: 'start' | 'extend' | 'stop';
  seconds?: number;
}
/**
 * The driver's new position. As often as 10 a second; later ones replace earlier ones.
 */
export interface Drive {
  lesson: string;
  step?: string;
  place?: string;
  moment_ns?: number | null;
  mode?: 'play' | 'paused' | 'scope';
  direction?: number;
  speed?: number | null;
  type: 'class_drive';
  spotlight?: Spotlight | null;
}
/**
 * As the driver sends it.
 */
export interface Spotlight {
  arm: string;
  row?: number | null;
  t_ns?: number | null;
}
/**
 * The instructor ends the class; answers stay for the report.
 */
export interface EndClass {
  type: 'class_end';
}
/**
 * A member follows or explores, and at which step; sent on change and on activity.
 *
 * Args:
 *     step: the one that the member sees.
 */
export interface Follow {
  type: 'class_follow';
  following: boolean;
  step?: string;
}
/**
 * Delete what this class holds of this member: the nickname and all answers.
 */
export interface ForgetMe {
  type: 'class_forget';
}
/**
 * The instructor lets a member drive, or drives again.
 *
 * Args:
 *     member: from the roster; empty: the instructor drives.
 */
export interface HandWheel {
  type: 'class_hand';
  member?: string;
}
/**
 * An observed member's new position; refused without consent.
 */
export interface ShowPlace {
  lesson: string;
  step?: string;
  place?: string;
  moment_ns?: number | null;
  mode?: 'play' | 'paused' | 'scope';
  direction?: number;
  speed?: number | null;
  type: 'class_here';
}
/**
 * Join by the code, or come back by the secret from `class_welcome`.
 *
 * Args:
 *     code: three words, with spaces or `-` between.
 *     nickname: the student's choice; not needed with a known secret.
 *     secret: of a former `class_welcome` of this class; an unknown one joins as a new member.
 */
export interface JoinClass {
  type: 'class_join';
  code: string;
  nickname?: string;
  secret?: string;
}
/**
 * This page leaves the class; its member may come back by the secret.
 */
export interface LeaveClass {
  type: 'class_leave';
}
/**
 * The instructor lets the class try runs in a step, or stops it.
 *
 * Args:
 *     knobs: members may turn knobs there.
 *     patches: and change patches, if the server builds changes.
 */
export interface OpenStep {
  type: 'class_open_step';
  lesson: string;
  step: string;
  knobs: boolean;
  patches?: boolean;
}
/**
 * A member asks the instructor a question, without a name. `class_own` confirms it.
 *
 * Args:
 *     text: plain text.
 *     step: the one that the member sees.
 */
export interface RaiseQuestion {
  type: 'class_raise';
  text: string;
  step?: string;
}
/**
 * The instructor removes a member, and deletes what the class stores of them.
 *
 * Args:
 *     member: from the roster.
 */
export interface RemoveMember {
  type: 'class_remove';
  member: string;
}
/**
 * The instructor's page returns to a class that this visitor started.
 */
export interface ResumeClass {
  type: 'class_resume';
  class_id: string;
}
/**
 * The instructor shows everyone the answers; later answers are refused.
 */
export interface Reveal {
  type: 'class_reveal';
  step?: string;
  question: string;
}
/**
 * The instructor sets the state of a question.
 *
 * Args:
 *     answered: the class has got its answer.
 *     hidden: from members and reports.
 */
export interface SettleRaised {
  type: 'class_settle';
  number: number;
  answered: boolean;
  hidden: boolean;
}
/**
 * The instructor shows all members what the class has tried, or hides it.
 */
export interface ShowGallery {
  type: 'class_show_gallery';
  shown: boolean;
}
/**
 * The instructor shows the questions to all members, or hides them.
 */
export interface ShowRaised {
  type: 'class_show_raised';
  shown: boolean;
}
/**
 * Start a class of a lesson; this visitor is its instructor. `class_welcome` answers.
 */
export interface StartClass {
  type: 'class_start';
  lesson: string;
  title?: string;
}
/**
 * A member withdraws a waiting try; it runs anyway if another member wants it.
 */
export interface TakeBackTry {
  type: 'class_take_back';
  number: number;
}
/**
 * A member tries a run in a step that is open for it; other fields are as in `start`.
 *
 * It waits behind this member's other tries and replaces none. A try that equals another one of
 * the
 * class is the same run, and this member becomes one more of its makers.
 */
export interface TryRun {
  type: 'class_try';
  lesson: string;
  step: string;
  arms: string[];
  workload?: string | null;
  params?: {
    [k: string]: number;
  };
  clock?: ('wall' | 'count') | null;
}
/**
 * A member votes for a question, or withdraws the vote.
 */
export interface Upvote {
  type: 'class_upvote';
  number: number;
  on?: boolean;
}
/**
 * This page of the instructor asks to observe a member.
 *
 * Args:
 *     member: from the roster; empty: stop.
 */
export interface WatchMember {
  type: 'class_watch';
  member?: string;
}
/**
 * Take or release control of the live run that this page watches.
 */
export interface TakeControl {
  type: 'control';
  take: boolean;
}
/**
 * Cancel a queued or running build of a change.
 */
export interface DropChange {
  type: 'drop_change';
  arm: string;
}
/**
 * Hold the guests of the live run that this page watches, or resume them.
 *
 * Args:
 *     on: hold them; else resume them.
 *     after: number of further accesses before the guests stop.
 */
export interface Hold {
  type: 'hold';
  on: boolean;
  after?: number;
}
/**
 * Judge an arm by a challenge of its lesson, once the request reaches the head of the queue.
 *
 * Args:
 *     arm: the challenge's base arm with a change that is built.
 */
export interface Judge {
  type: 'judge';
  lesson: string;
  challenge: string;
  arm: string;
}
/**
 * Fill the measured table: one guest at a time, untraced, A B B A.
 */
export interface Measure {
  type: 'measure';
  lesson: string;
  arms: string[];
  workload?: string | null;
  params?: {
    [k: string]: number;
  };
  clock?: ('wall' | 'count') | null;
  repeats?: number;
}
/**
 * Show a lesson with a given run, or with the recording that fits a step best.
 *
 * Args:
 *     run: id of a run, which may be live; name of a recording of the lesson; `recorded` for the
 *         default; or `none` for the lesson without a run.
 *     step: the step that the recording must fit; default: the first step.
 *     segments: whether this page can fetch segments; else it gets all messages by WebSocket.
 */
export interface Open {
  type: 'open';
  lesson: string;
  run?: string | null;
  step?: string | null;
  segments?: boolean;
}
/**
 * Run live, now or when the request reaches the head of the queue (see `runs`).
 *
 * The request replaces the visitor's queued request. It also stops the visitor's current run,
 * unless other visitors are queued or requested that run. Equal requests share a run.
 */
export interface Start {
  type: 'start';
  lesson: string;
  arms: string[];
  workload?: string | null;
  params?: {
    [k: string]: number;
  };
  clock?: ('wall' | 'count') | null;
}
/**
 * End a live run or a measurement, or cancel a queued request.
 *
 * Args:
 *     run: its id; default: the visitor's queued request, and the live run that the visitor
 *         watches or has started.
 */
export interface Stop {
  type: 'stop';
  run?: string | null;
}
/**
 * An exact count of accesses by the microscope's functions to one place.
 */
export interface AccessCount {
  /**
   * an atomic is one rmw, read-modify-write; accesses: all kinds
   */
  count: 'reads' | 'writes' | 'rmws' | 'accesses';
  /**
   * field of the watched object
   */
  field: string | null;
  /**
   * global or static variable of the kernel
   */
  variable: string | null;
  /**
   * every line of kernel memory, except stacks, that at least two CPUs access and one writes: lines that can move between caches
   */
  shared: boolean;
  /**
   * everything on its cache lines; false: only its own bytes
   */
  line: boolean;
  /**
   * functions; default: all watched ones
   */
  by: string[];
  /**
   * per operation on average, or for the whole run
   */
  per: 'operation' | 'run';
}
/**
 * Something that a viewer does to a live run: a line for the workload's standard input.
 */
export interface Act {
  /**
   * text of its button
   */
  title: string;
  /**
   * one sentence: what it does
   */
  help: string;
  /**
   * the line, with {value}
   */
  say: string;
  /**
   * workload that accepts the line
   */
  workload: string;
  /**
   * smallest value
   */
  min: number;
  /**
   * largest value; default: no limit
   */
  max: number | null;
  /**
   * knob whose value is the largest value
   */
  max_param: string | null;
}
/**
 * An answer; its task's kind has one of these.
 */
export interface AnswerGiven {
  choice?: number | null;
  value?: number | null;
  text?: string | null;
  run?: string | null;
  arm?: string | null;
  mark?: MarkGiven | null;
}
/**
 * A mark that was pointed at; times are guest times.
 */
export interface MarkGiven {
  run: string;
  arm: string;
  kind: string;
  t0_ns: number;
  t1_ns: number;
}
/**
 * What can be changed of an arm.
 */
export interface ArmSource {
  arm: string;
  /**
   * why nothing can be changed here, a sentence; empty: it can
   */
  off: string;
  /**
   * that the lesson's patches touch, the arm's first
   */
  files: SourceFile[];
}
/**
 * A file of the kernel as an arm has it.
 */
export interface SourceFile {
  /**
   * relative to the kernel's source
   */
  name: string;
  text: string;
  regions: SourceRegion[];
}
/**
 * Lines of a file that an arm's patches touch, 1-based, both included.
 */
export interface SourceRegion {
  /**
   * the function or structure; empty: none is known
   */
  title: string;
  first: number;
  last: number;
}
/**
 * The source tree of a kernel, for reports; `duet try` writes it.
 */
export interface ArmTree {
  /**
   * version in its Makefile
   */
  version: string;
  /**
   * full hash of HEAD; empty: not a repository
   */
  commit: string;
  /**
   * output of `git describe`
   */
  describe: string;
  /**
   * git's tree hash of all files that were tried
   */
  tree: string;
  /**
   * the files differ from the commit
   */
  dirty: boolean;
  /**
   * SHA-256 of the diff from the commit to the files; empty: no diff
   */
  changes: string;
  /**
   * how many of the arm's first patches are part of it
   */
  patches: number;
}
/**
 * An arm with its patches.
 */
export interface ArmView {
  /**
   * the name in commands, files and other keys
   */
  name: string;
  /**
   * the name that people use
   */
  title: string;
  /**
   * what it is in the comparison
   */
  role: 'before' | 'after' | 'alternative' | 'mainline';
  /**
   * one line under the lane's name
   */
  summary: string;
  /**
   * files below kernel-patches/<lesson>/, in order; none: stock
   */
  patches: string[];
  /**
   * kernel base: a folder of kernel-patches/bases, in quotes ("6.12"); default: the default base
   */
  base: string | null;
  /**
   * a variant of the base's configuration, by its name in base.yaml
   */
  config: string | null;
  /**
   * source tree it was made of, if `base` belongs to a trial
   */
  source: ArmTree | null;
  /**
   * built, run and measured only if named: not part of the comparison
   */
  optional: boolean;
  patch_texts: PatchText[];
}
/**
 * One patch in the form of git format-patch; `text` is '' if the file is unreadable.
 */
export interface PatchText {
  file: string;
  subject: string;
  body: string;
  text: string;
}
/**
 * What the picture's axis counts instead of guest time: one `point` is one step.
 */
export interface Axis {
  /**
   * point to count
   */
  point: string;
  /**
   * text at the axis
   */
  title: string;
  /**
   * name of one step
   */
  unit: string;
  /**
   * name of several steps
   */
  plural: string;
  /**
   * workloads whose axis counts; others have time; default: every workload
   */
  workloads: string[];
}
/**
 * What one press of an arrow key moves by, if not by the operation.
 */
export interface Beat {
  /**
   * point to move to
   */
  point: string;
  /**
   * name of one beat
   */
  name: string;
  /**
   * name of several beats
   */
  plural: string;
}
/**
 * A task to change an arm, judged by measurements and a stress test.
 */
export interface Challenge {
  /**
   * a few words
   */
  title: string;
  /**
   * what to do, and what must not change
   */
  ask: string;
  /**
   * where to begin, for readers who are stuck
   */
  hint: string;
  /**
   * the arm to change
   */
  arm: string;
  /**
   * better: all goals and rules hold, and the stress finds nothing; break: a rule no longer holds, or the stress finds something
   */
  aim: 'better' | 'break';
  /**
   * goals to reach, all of them
   */
  goals: Goal[];
  /**
   * what holds while the kernel is right, also on the unchanged arm
   */
  rules: Goal[];
  /**
   * regular expressions that no added line may match
   */
  without: string[];
  /**
   * why barriers are needed; judges a change that removes one
   */
  order: Litmus | null;
  /**
   * what the challenge teaches, shown when it is solved
   */
  answer: string;
}
/**
 * A limit for the changed kernel, in the form of a claim.
 */
export interface Goal {
  /**
   * one of the lesson's metrics
   */
  metric: string;
  /**
   * arm to compare with; none: the limits are for the value itself
   */
  to: string | null;
  /**
   * arm over `to` is at most this
   */
  ratio_max: number | null;
  /**
   * arm over `to` is at least this
   */
  ratio_min: number | null;
  /**
   * largest value, in the metric's unit
   */
  value_max: number | null;
  /**
   * smallest, in the metric's unit
   */
  value_min: number | null;
  /**
   * metric of the same arm that must be exactly equal
   */
  equals: string | null;
  params: {
    [k: string]: number;
  };
  /**
   * its clock
   */
  clock: 'wall' | 'count';
  /**
   * 2^shift ns per instruction (count)
   */
  shift: number;
  /**
   * default: the first
   */
  workload: string | null;
  /**
   * the goal in words, for the list
   */
  says: string;
}
/**
 * Accesses that CPUs make at the same time, and a result that must never occur.
 */
export interface Litmus {
  /**
   * what the order is for, in words
   */
  says: string;
  /**
   * where the kernel has these accesses
   */
  source: string;
  starts: {
    [k: string]: number;
  };
  program: {
    [k: string]: string[];
  };
  never: {
    [k: string]: number;
  };
}
/**
 * Limits that an arm keeps, checked by tests.
 */
export interface Claim {
  /**
   * one of the lesson's metrics
   */
  metric: string;
  /**
   * arm to compare with; none: the limits are for the value itself
   */
  to: string | null;
  /**
   * arm over `to` is at most this
   */
  ratio_max: number | null;
  /**
   * arm over `to` is at least this
   */
  ratio_min: number | null;
  /**
   * largest value, in the metric's unit
   */
  value_max: number | null;
  /**
   * smallest, in the metric's unit
   */
  value_min: number | null;
  /**
   * metric of the same arm that must be exactly equal
   */
  equals: string | null;
  params: {
    [k: string]: number;
  };
  /**
   * its clock
   */
  clock: 'wall' | 'count';
  /**
   * 2^shift ns per instruction (count)
   */
  shift: number;
  /**
   * default: the first
   */
  workload: string | null;
  /**
   * the kernel of the claim
   */
  arm: string;
  /**
   * source of the expectation
   */
  source: string;
}
/**
 * A class in the list of those that this visitor started.
 */
export interface ClassLine {
  class_id: string;
  title: string;
  lesson: string;
  code: string;
  open: boolean;
  /**
   * ISO 8601 UTC
   */
  started_at: string;
  members: number;
}
/**
 * What a class answered and tried, without names.
 */
export interface ClassReport {
  class_id: string;
  title: string;
  lesson: string;
  members: number;
  /**
   * ISO 8601 UTC
   */
  started_at: string;
  /**
   * until its end, or until now
   */
  lasted_s: number;
  open: boolean;
  questions: ReportQuestion[];
  /**
   * those with the most votes first
   */
  raised: ReportRaised[];
  lost: ReportLost[];
  tries: ReportTry[];
}
/**
 * One question of a class; the step is empty for a free poll.
 */
export interface ReportQuestion {
  step: string;
  question: string;
  text: string;
  options: string[];
  rounds: ReportRound[];
  /**
   * members whose second answer differs from their first
   */
  changed: number;
}
/**
 * One round of a question.
 */
export interface ReportRound {
  round: number;
  answers: number;
  /**
   * null: nobody was judged
   */
  right: number | null;
  counts: {
    [k: string]: number;
  };
  /**
   * where they pointed: x and y as parts of the picture
   */
  marks: number[][];
}
/**
 * A question that a member asked; nothing says which.
 */
export interface ReportRaised {
  step: string;
  text: string;
  votes: number;
  answered: boolean;
}
/**
 * How many were lost in ten seconds.
 */
export interface ReportLost {
  /**
   * since the class began
   */
  at_s: number;
  /**
   * where the driver was
   */
  step: string;
  count: number;
}
/**
 * A run that members asked for.
 */
export interface ReportTry {
  number: number;
  lesson: string;
  step: string;
  /**
   * how many asked for it
   */
  makers: number;
  turned: {
    [k: string]: number;
  };
  /**
   * of the changed patch in one line; empty: none was changed
   */
  summary: string;
  workload: string;
  clock: string;
  run: string;
  state: string;
  /**
   * why it failed
   */
  sentence: string;
  /**
   * of its one number; empty: it has none
   */
  title: string;
  unit: string;
  values: {
    [k: string]: number;
  };
  /**
   * second over first; null: there are no two
   */
  ratio: number | null;
}
/**
 * Two recordings of one lesson, differences first.
 */
export interface Comparison {
  lesson: string;
  sides: Side[];
  differences: Difference[];
  figures: FigurePair[];
  only: {
    [k: string]: 'first' | 'second';
  };
  worth: string;
}
/**
 * One of two compared recordings, as its manifest describes it.
 */
export interface Side {
  created: string;
  clock: 'wall' | 'count';
  workload: string | null;
  params: {
    [k: string]: number;
  };
  arms: string[];
  host: {
    [k: string]: string;
  };
}
/**
 * One thing that is not the same; `arm` is empty for what concerns all.
 */
export interface Difference {
  of: 'run' | 'kernel' | 'config' | 'patches' | 'build' | 'host' | 'programs';
  what: string;
  arm: string;
  recorded: string;
  now: string;
}
/**
 * A figure of both recordings; `ratio` is second over first.
 */
export interface FigurePair {
  arm: string;
  figure: string;
  recorded: number | null;
  now: number | null;
  ratio: number | null;
}
/**
 * A number over time, drawn as an area by views that have counters.
 *
 * Of a `point`: the number of events since the window began, or with `field` the field's value,
 * summed with `sum`. Of `xray`: the fact `field` of the probe's samples.
 */
export interface Counter {
  /**
   * the name in other keys
   */
  name: string;
  /**
   * what is counted, in words
   */
  title: string;
  /**
   * point to count
   */
  point: string | null;
  /**
   * instead of `point`: probe of the x-ray
   */
  xray: string | null;
  /**
   * field of the point, or fact of the probe; none: number of points
   */
  field: string | null;
  /**
   * sum the field's values within the window
   */
  sum: boolean;
}
/**
 * The name of what was deleted.
 */
export interface Deleted {
  deleted: string;
}
/**
 * What a reader explains in three sentences, and the lesson's own explanation.
 */
export interface Explanation {
  /**
   * what to explain, as a question
   */
  ask: string;
  /**
   * the lesson's explanation in three sentences, for comparison
   */
  ours: string[];
}
/**
 * Why a request failed, as a person should read it.
 */
export interface Failure {
  code: string;
  sentence: string;
  remedy: string;
  detail?: string;
  run?: string | null;
}
/**
 * Body of every answer from 400 on.
 */
export interface FailureBody {
  error: Failure;
}
/**
 * State of the server.
 */
export interface Health {
  status?: 'ok';
  version: string;
  protocol: number;
  viewers: number;
  /**
   * ids of live runs
   */
  playing: string[];
  waiting: number;
  lanes: LaneState[];
  kernels: {
    [k: string]: {
      [k: string]: boolean;
    };
  };
  connections: Seats;
  sockets: Seats;
  loop: LoopHolds;
}
/**
 * A lane of a live run; `pid` is its guest's process, null when that has ended.
 */
export interface LaneState {
  run_id: string;
  arm: string;
  phase:
    | 'waiting'
    | 'building'
    | 'booting'
    | 'ready'
    | 'running'
    | 'draining'
    | 'done'
    | 'stopped'
    | 'failed';
  pid: number | null;
}
/**
 * Places of one kind: connections or sockets.
 */
export interface Seats {
  open: number;
  most: number;
  dropped: number;
  refused: number;
}
/**
 * How long callbacks held the event loop.
 */
export interface LoopHolds {
  holds: number;
  holds_cpu: number;
  longest_ms: number;
  longest_cpu_ms: number;
  place: string;
  longest_gc_ms: number;
  budget_ms: number;
}
/**
 * A kind of mark. Its index in the list is its number on the wire.
 */
export interface Kind {
  /**
   * the name in other keys
   */
  name: string;
  /**
   * its text in the legend
   */
  title: string;
  /**
   * its meaning for the lesson
   */
  colour: 'work' | 'wait' | 'mechanism' | 'gain' | 'vain' | 'hazard' | 'idle' | 'other';
  /**
   * state: of a thread; function: a span of one; track: a strip below; mark: the view makes it of points
   */
  layer: 'state' | 'function' | 'track' | 'mark';
  /**
   * the badge: how its figures are obtained
   */
  evidence: 'measured' | 'counted' | 'modelled';
  /**
   * false: drawn and named, but not the lesson's subject
   */
  lesson: boolean;
  /**
   * it is in the legend of every step
   */
  always: boolean;
}
/**
 * A lab in the list of all.
 */
export interface LabLine {
  slug: string;
  title: string;
  /**
   * of its first task
   */
  lesson: string;
  /**
   * ISO 8601; null: there is none
   */
  deadline: string | null;
  points: number;
  tasks: number;
}
/**
 * All answers in a lab, for the grader.
 */
export interface LabRecord {
  lab: string;
  rubrics: {
    [k: string]: string[];
  };
  people: PersonRecord[];
}
/**
 * All attempts of one person.
 */
export interface PersonRecord {
  person: string;
  name: string;
  /**
   * where the chain of hashes is broken; empty: it is whole
   */
  broken: string;
  attempts: RecordedAttempt[];
}
/**
 * An attempt, with its link in the chain; `duet lab export` has it as it is stored.
 */
export interface RecordedAttempt {
  number: number;
  task: string;
  answer: AnswerGiven;
  /**
   * what the server saw, in words
   */
  found: string[];
  /**
   * of the answer, for a link; null: it has none
   */
  run: string | null;
  /**
   * ISO 8601 UTC
   */
  at: string;
  /**
   * it came before deadline and grace were over
   */
  counts: boolean;
  sha256: string;
  /**
   * of the task's points, 0 to 1; null: not graded
   */
  share: number | null;
  /**
   * points that a person gave; null: nobody did
   */
  grade: number | null;
  comment: string;
}
/**
 * Scores of all participants.
 */
export interface LabScores {
  lab: string;
  title: string;
  most: number;
  people: PersonScore[];
}
/**
 * A person's score.
 */
export interface PersonScore {
  person: string;
  name: string;
  points: number;
  most: number;
  complete: boolean;
  /**
   * attempts after the deadline, within its grace or not
   */
  late: number;
  /**
   * ISO 8601 UTC, of the newest attempt or grade
   */
  at: string;
  tasks: TaskPoints[];
}
/**
 * One task of a person.
 */
export interface TaskPoints {
  task: string;
  points: number;
  most: number;
  state: 'open' | 'scored' | 'ungraded';
}
/**
 * A task, without its right answer.
 */
export interface LabTask {
  name: string;
  kind: 'predict' | 'point' | 'explain' | 'measure' | 'challenge';
  title: string;
  lesson: string;
  step: string | null;
  ask: string;
  choices: string[];
  unit: string;
  /**
   * most that a text may have; null: no text is asked for
   */
  chars: number | null;
  /**
   * what a run is to reach, in words
   */
  limits: string[];
  /**
   * of the lesson, from 1, that is answered by pointing
   */
  question: number | null;
  challenge: string | null;
  points: number;
  /**
   * null: any number
   */
  attempts: number | null;
  feedback: 'now' | 'later';
}
/**
 * A lab, as a student sees it.
 */
export interface LabView {
  slug: string;
  title: string;
  intro: string;
  deadline: string | null;
  /**
   * deadline and grace; null: there is no deadline
   */
  closes: string | null;
  open: boolean;
  points: number;
  tasks: LabTask[];
}
/**
 * A lesson in the list of all.
 */
export interface LessonLine {
  slug: string;
  title: string;
  question: string;
}
/**
 * An arrow from a track to a row: an `event` from the thread inside a `during` phase.
 */
export interface Link {
  /**
   * the name in other keys
   */
  name: string;
  /**
   * what it does to the row, e.g. 'wakes a hog'
   */
  title: string;
  /**
   * probe name
   */
  event: string;
  /**
   * track kind that must be open
   */
  during: string;
  /**
   * field with the tid of the released thread
   */
  target: string;
}
/**
 * A line of a patch to highlight while a span of `kind` is open on the arm with that line.
 */
export interface Lit {
  /**
   * part of a line of the arm's patch; for an arm without patch, of a line that another arm's patch removes
   */
  match: string;
  /**
   * function kind
   */
  kind: string;
  /**
   * default: every arm
   */
  arms: string[];
  /**
   * name of the thread on the line; default: the lesson's `thread`
   */
  who: string;
}
/**
 * A mail, or a page, that figures are quoted from.
 */
export interface Mail {
  /**
   * who wrote it
   */
  author: string;
  /**
   * 2024-06-12, or 2022-01
   */
  date: string;
  /**
   * its subject, verbatim
   */
  subject: string;
  /**
   * its address; none if unknown
   */
  url: string | null;
}
/**
 * Results of untraced runs, one arm after another.
 */
export interface MeasuredTable {
  lesson: string;
  run_id: string | null;
  source: 'live' | 'recorded';
  clock: 'wall' | 'count';
  params: {
    [k: string]: number;
  };
  workload: string;
  /**
   * name of the metric in the lesson
   */
  metric: string;
  /**
   * title of the metric
   */
  title: string;
  /**
   * which values of the metric are better
   */
  better: 'higher' | 'lower' | 'neither';
  /**
   * values are in the row's `unit`, even in keys named `ops_per_s`
   */
  rows: MeasuredRow[];
  /**
   * ISO 8601 UTC
   */
  at: string;
  verdict: string;
  host: string;
  /**
   * command that reproduces the table
   */
  command: string;
  /**
   * finished runs
   */
  done: number;
  /**
   * planned runs; done < total: still measuring
   */
  total: number;
  /**
   * provenance of a recorded table; null: measured just now
   */
  made: Made | null;
  /**
   * sentences, such as that arms on different bases differ by more than one patch
   */
  warnings: string[];
}
/**
 * One number of a run, from exactly one of SOURCES.
 *
 * A `line` metric comes from untraced runs: it is measured on the wall clock; on the count clock a
 * time is counted instructions. `event`, `span` and `pending` metrics come from a counted run, in
 * which only the probes of metrics are on. `dwarf` metrics are read from vmlinux. `microscope`
 * metrics come from a run under the lesson's microscope, on the wall clock.
 */
export interface Metric {
  /**
   * its name in tables and charts
   */
  title: string;
  /**
   * its unit, e.g. 'umounts/s'
   */
  unit: string;
  /**
   * which direction is better
   */
  better: 'higher' | 'lower' | 'neither';
  /**
   * regex with one group `value`, on the workload's lines
   */
  line: string | null;
  /**
   * probe whose events are counted
   */
  event: string | null;
  /**
   * field of that event to sum up
   */
  field: string | null;
  where: {
    [k: string]: number;
  };
  /**
   * probes of entry and return on one thread; value is in ns
   */
  span: [string, string] | null;
  /**
   * probes of begin and end, on any threads; value is how many have begun and not ended, at each begin and end
   */
  pending: [string, string] | null;
  /**
   * how many values become one; default: last for `line`, sum for `event`, mean for `span`, max for `pending`
   */
  pick: ('last' | 'first' | 'sum' | 'mean' | 'max' | 'min' | 'p50') | null;
  /**
   * only between the trace markers '<phase>: start' and '<phase>: end'
   */
  phase: string | null;
  /**
   * 'sizeof struct dentry' or 'offsetof struct dentry.d_lockref'
   */
  dwarf: string | null;
  /**
   * loads and stores of watched functions to one place
   */
  microscope: AccessCount | null;
  /**
   * resolution of its clock, in `unit`; no ratio below ten times that
   */
  resolution: number;
  /**
   * the kernel updates it at its tick: no verdict on the count clock
   */
  sampled: boolean;
  /**
   * factor from the raw value to `unit`
   */
  scale: number;
  /**
   * default: every workload
   */
  workloads: string[];
  /**
   * default: every clock
   */
  clocks: ('wall' | 'count')[];
  /**
   * default: every arm
   */
  arms: string[];
  /**
   * it is in reports, but has no verdict
   */
  extra: boolean;
}
/**
 * Every load and store that these functions make, observed from outside the guest.
 *
 * With an object, the workload makes it, prints `ready` and waits for `go` on its standard input.
 * By then the x-ray has found the object, and the microscope watches it. Without an object it
 * counts from the workload's start, which is enough for metrics of variables.
 */
export interface MicroscopeConfig {
  /**
   * kernel functions whose accesses are watched
   */
  functions: string[];
  /**
   * the function whose call is an operation
   */
  operation: string;
  /**
   * the function whose return ends the operation; default: the operation's own
   */
  until: string;
  /**
   * x-ray probe whose facts `found`, `address48` and `size` are the object's and whose rows are its fields; none: no object is watched
   */
  probe: string | null;
  /**
   * its type, e.g. 'struct dentry'
   */
  object: string;
  /**
   * regex on the workload's lines
   */
  ready: string;
  /**
   * line for the workload's standard input
   */
  go: string;
  /**
   * accesses stored one by one
   */
  log: number;
  /**
   * workloads that use it
   */
  workloads: string[];
}
/**
 * A step's claim, and the marks that its window must show to support it.
 */
export interface MustShow {
  /**
   * the claim, to follow 'shows that': all four wait at once
   */
  that: string;
  /**
   * the window must show each of them
   */
  marks: Sought[];
}
/**
 * A number of spans, points, links, operations or stretches between samples, on each of some
 * lanes.
 *
 * A lower bound counts visible ones. A span is visible if the window has all of it, or a part of
 * at least a twentieth of the window. An upper bound counts whatever overlaps the window.
 */
export interface Sought {
  /**
   * spans of this kind
   */
  kind: string | null;
  /**
   * instead of `kind`: points of this name
   */
  point: string | null;
  /**
   * instead of `kind`: links of this name
   */
  link: string | null;
  /**
   * instead of `kind`: operations
   */
  operation: boolean;
  /**
   * instead of `kind`: the time between samples of this x-ray probe that fits `where`; successive ones are one stretch
   */
  looks: string | null;
  /**
   * lanes; none: all lanes of the step
   */
  arms: string[];
  where: {
    /**
     * @minItems 2
     * @maxItems 2
     */
    [k: string]: [number, number];
  };
  /**
   * for `looks`: growth as a share of these facts' total growth, 0 to 1
   */
  among: string[];
  /**
   * only the part during spans of this kind, on the same lane
   */
  during: string | null;
  /**
   * the time during which this many overlap; all: one of every thread
   */
  at_once: number | 'all';
  /**
   * it begins and ends in the window
   */
  whole: boolean;
  /**
   * it lasts at least this long, guest ms
   */
  longer_ms: number;
  /**
   * least number in the window; default: 1, or 0 with `at_most`
   */
  at_least: number | null;
  /**
   * largest number in the window
   */
  at_most: number | null;
  /**
   * of several such windows, take the one with the most of this
   */
  most: boolean;
  /**
   * the step starts playing just before the first of these
   */
  opens: boolean;
}
/**
 * One attempt of this visitor.
 */
export interface MyAttempt {
  number: number;
  /**
   * ISO 8601 UTC
   */
  at: string;
  answer: AnswerGiven;
  /**
   * what the server saw, in words
   */
  found: string[];
  /**
   * of the answer; null: it has none
   */
  run: string | null;
  /**
   * null: not shown yet, or not graded
   */
  points: number | null;
  comment: string;
}
/**
 * This visitor's state in a lab.
 */
export interface MyLab {
  lab: string;
  /**
   * null: nobody has said it
   */
  name: string | null;
  /**
   * a learning platform says the name
   */
  named: boolean;
  /**
   * of what is shown; null: nothing is
   */
  points: number | null;
  tasks: MyTask[];
}
/**
 * This visitor's state in a task.
 */
export interface MyTask {
  task: string;
  made: number;
  /**
   * attempts; null: any number
   */
  left: number | null;
  state: 'open' | 'answered' | 'ungraded' | 'scored';
  /**
   * null: not shown yet
   */
  points: number | null;
  /**
   * the right answer; null: not shown yet, or none
   */
  right: string | null;
  why: string | null;
  rubric: string[];
  attempts: MyAttempt[];
}
/**
 * Rates of the host's kernel, which has one layout.
 */
export interface NativeHost {
  what: string;
  curve: NativePoint[];
  [k: string]: unknown;
}
/**
 * Operations a second of all threads: median, lowest and highest of several runs.
 */
export interface NativePoint {
  threads: number;
  median: number;
  low: number;
  high: number;
  [k: string]: unknown;
}
/**
 * One arm's layout.
 */
export interface NativeLayout {
  arm: string;
  /**
   * by number of threads, from 1 upwards
   */
  curve: NativePoint[];
  [k: string]: unknown;
}
/**
 * Machine, compiler and time of a native measurement.
 */
export interface NativeMade {
  /**
   * model name in /proc/cpuinfo
   */
  cpu: string;
  /**
   * the host's output of `uname -r`
   */
  kernel: string;
  /**
   * the host's output of `uname -m`
   */
  machine: string;
  compiler: string;
  /**
   * ISO 8601 UTC
   */
  at: string;
  [k: string]: unknown;
}
/**
 * Ratio of two arms' rates with all threads, with its 95 % confidence interval.
 */
export interface NativeRatio {
  of: string;
  to: string;
  median: number;
  low: number;
  high: number;
  [k: string]: unknown;
}
export interface NativeView {
  format: number;
  lesson: string;
  evidence: 'measured';
  what: string;
  threads: number;
  cores: number;
  rounds: number;
  run_ms: number;
  made: NativeMade;
  arms: NativeLayout[];
  ratio: NativeRatio;
  host: NativeHost | null;
  remarks: string[];
  [k: string]: unknown;
}
/**
 * A lesson without a view; its numbers come from the command line.
 */
export interface NumbersLesson {
  /**
   * its name in lists
   */
  title: string;
  /**
   * the question it answers, one sentence
   */
  question: string;
  /**
   * two sentences for the front page
   */
  summary: string;
  /**
   * its default clock
   */
  clock: 'wall' | 'count';
  /**
   * wall: guest time follows the host's; count: one instruction is a fixed time
   */
  clocks: ('wall' | 'count')[];
  /**
   * 2^shift ns per instruction when its steps run on the count clock
   */
  shift: number;
  arms: ArmView[];
  /**
   * the call of `duet try` that wrote the lesson; empty: written by hand
   */
  made_by: string;
  /**
   * patches of all arms: those in both/ of its base and in the lesson's own both/; none: the unpatched source, if tracepoints and kprobes suffice
   */
  instrumentation: 'patches' | 'none';
  params: {
    [k: string]: Param;
  };
  workloads: {
    [k: string]: Workload;
  };
  /**
   * its cost is waiting: on the count clock it is reported at shift 0 and shift 3
   */
  waiting: boolean;
  /**
   * MiB of each guest
   */
  memory_mb: number;
  acts: {
    [k: string]: Act;
  };
  metrics: {
    [k: string]: Metric;
  };
  /**
   * the operation, unless the workload has one; required for a lesson with a view
   */
  operation: Operation | null;
  /**
   * name of a row's thread
   */
  thread: string;
  view: null;
  /**
   * what an arrow key moves by; none: the operation
   */
  beat: Beat | null;
  /**
   * kinds of marks, in the legend's order
   */
  kinds: Kind[];
  /**
   * events switched on in the guest
   */
  probes: Probe[];
  /**
   * paired entries and returns
   */
  spans: Span[];
  /**
   * strips below the threads
   */
  tracks: Track[];
  /**
   * arrows from tracks to rows
   */
  links: Link[];
  /**
   * structures that the x-ray reads
   */
  xray: XrayConfig[];
  /**
   * functions and object whose loads and stores are watched
   */
  microscope: MicroscopeConfig | null;
  /**
   * events that views draw one by one
   */
  points: Point[];
  /**
   * numbers over time, besides operations
   */
  counters: Counter[];
  /**
   * what the axis counts; none: guest time
   */
  axis: Axis | null;
  /**
   * lines of the patch to highlight while they run
   */
  lit: Lit[];
  /**
   * the steps, in order
   */
  scenes: Scene[];
  /**
   * scene shown on the front page
   */
  hero: string | null;
  predictions: {
    [k: string]: Prediction;
  };
  /**
   * asked after the last step, answered by pointing at a mark
   */
  questions: Question[];
  /**
   * what was said about the patch, and its outcome; shown after the last step
   */
  discussion: Remark[];
  /**
   * checked by lint and by the tests
   */
  claims: Claim[];
  mails: {
    [k: string]: Mail;
  };
  /**
   * every figure of the mails; duet measure --published tests them
   */
  published: PublishedFigure[];
  /**
   * published values that charts show beside ours
   */
  references: Reference[];
  /**
   * wrong conclusions to avoid, a sentence each
   */
  caveats: string[];
  /**
   * why no table of untraced runs is recorded, and what to look at instead
   */
  no_table: string;
  /**
   * in the order in which a reader meets them
   */
  terms: Term[];
  /**
   * what a reader explains at the end; none: nothing
   */
  explain: Explanation | null;
  /**
   * questions at the end, judged by the page
   */
  quiz: QuizQuestion[];
  challenges: {
    [k: string]: Challenge;
  };
  stress: Stress;
  slug: string;
  content: {
    [k: string]: string;
  };
  recordings: RecordingLine[];
  ready: {
    [k: string]: boolean;
  };
  /**
   * all recorded tables of untraced runs, the headline first
   */
  measured: MeasuredTable[];
  drawings: {
    [k: string]: string;
  };
  /**
   * the arms' layouts on a machine's real CPUs; null: never measured
   */
  native: NativeView | null;
  /**
   * content.md, unchanged markdown
   */
  prose: string;
}
/**
 * A knob. `boot` knobs need new guests, `run` knobs only a new run, `model` knobs neither.
 */
export interface Param {
  /**
   * its name on the page
   */
  title: string;
  /**
   * one line: what it changes
   */
  help: string;
  /**
   * a number, a switch (0 or 1), or one of `choices`
   */
  type: 'int' | 'bool' | 'choice';
  /**
   * its value if unset
   */
  default: number;
  /**
   * smallest value
   */
  min: number | null;
  /**
   * largest value
   */
  max: number | null;
  /**
   * largest value of a published figure's measurement, on a host with CPUs for it
   */
  measured_max: number | null;
  /**
   * the allowed values
   */
  choices: number[];
  /**
   * one per choice
   */
  labels: string[];
  /**
   * shown after the value, e.g. 'ms'
   */
  unit: string;
  /**
   * boot: a new value needs new guests; run: a new run; model: it belongs to a model on the page, and no run uses it
   */
  applies: 'boot' | 'run' | 'model';
  /**
   * kernel parameter, with {value}
   */
  cmdline: string | null;
  /**
   * duration: seconds that the workload runs; cpus: vCPUs of each guest; threads: parallel threads of the workload; at most one knob of each
   */
  role: ('duration' | 'cpus' | 'threads') | null;
}
/**
 * A program that runs on every arm.
 */
export interface Workload {
  /**
   * its name on the page
   */
  title: string;
  /**
   * one line: what it does, and who wrote it
   */
  summary: string;
  /**
   * argv split at blanks, with {param} names
   */
  run: string;
  /**
   * commands before the run, untraced, argv split at blanks, with {param} names; `duet-scratch xfs 512` makes and mounts a fresh disk at /scratch
   */
  setup: string[];
  /**
   * 'PATH VALUE' below /proc/sys or /sys, with {param} names
   */
  writes: string[];
  optional: {
    [k: string]: string;
  };
  /**
   * size of the scratch disk in MiB; 0: it has none
   */
  scratch_mb: number;
  /**
   * its standard input takes the lines of the lesson's acts
   */
  input: boolean;
  /**
   * glob of its process names
   */
  comm: string;
  /**
   * regex with one group on a thread's name: its order; ^$: no rows
   */
  rows: string;
  /**
   * name of another process that gets a row, below the threads
   */
  other: string | null;
  /**
   * trace marker at which the lane's time starts
   */
  start_marker: string;
  /**
   * regex with groups ops and per_s, on the workload's lines
   */
  ops_line: string | null;
  /**
   * its operation; default: the lesson's
   */
  operation: Operation | null;
}
/**
 * An operation: from `open` to `close` on one thread.
 *
 * Without these probes no event marks an operation, but the microscope may count operations.
 */
export interface Operation {
  /**
   * name of one operation, e.g. 'umount'
   */
  name: string;
  /**
   * name of several, e.g. 'umounts'
   */
  plural: string;
  /**
   * probe at which it begins
   */
  open: string | null;
  /**
   * probe at which it ends, same thread
   */
  close: string | null;
}
/**
 * An event to switch on in the guest; {sym:NAME} is replaced from System.map.
 */
export interface Probe {
  /**
   * the name in other keys
   */
  name: string;
  /**
   * group/name
   */
  event: string;
  /**
   * kprobe_events line for duet/ events
   */
  define: string | null;
  /**
   * filter of the event, as in tracefs; {comm}: the workload's glob
   */
  filter: string | null;
  /**
   * default: every arm
   */
  arms: string[];
  /**
   * false: only for metrics, off in explain runs
   */
  explain: boolean;
  explain_max: {
    [k: string]: number;
  };
}
/**
 * Entry and return paired on one thread; `wait` is the state of a sleep inside.
 */
export interface Span {
  /**
   * function kind to draw; none: only the cause of a sleep
   */
  kind: string | null;
  /**
   * probe name
   */
  open: string;
  /**
   * probe name
   */
  close: string;
  /**
   * field of the opening event that is stored as arg
   */
  arg: string | null;
  when: {
    [k: string]: string;
  };
  /**
   * state kind of off-CPU time inside it
   */
  wait: string | null;
}
/**
 * A strip under the threads, drawn from events of kernel threads.
 */
export interface Track {
  /**
   * the name in other keys
   */
  name: string;
  /**
   * the text beside the strip
   */
  title: string;
  /**
   * field of the event that carries the stage
   */
  field: string;
  /**
   * its steps; the first match is taken
   */
  phases: Phase[];
  /**
   * default: every arm
   */
  arms: string[];
  /**
   * false: drawn and named, but not the lesson's subject
   */
  lesson: boolean;
}
/**
 * A step of a track: `opens` begins when `field` of `event` is `value`.
 */
export interface Phase {
  /**
   * probe name
   */
  event: string;
  /**
   * value of the track's field, number or word
   */
  value: number | string;
  /**
   * only while this phase is open
   */
  after: string | null;
  /**
   * track kind that begins; none: it ends
   */
  opens: string | null;
}
/**
 * A structure of the running kernel that the x-ray reads (docs/PROBES.md).
 */
export interface XrayConfig {
  /**
   * a file of the lesson's probes/ or a generic one, e.g. variable; with dashes, without .py
   */
  probe: string;
  /**
   * samples a second of host time
   */
  hz: number;
  /**
   * which object to read; the probe documents it
   */
  of: string;
  /**
   * default: every workload
   */
  workloads: string[];
}
/**
 * An event stored with its fields, for views that draw single events.
 *
 * With `lens: microscope` it is one access to the watched object, with the fields ACCESS.
 */
export interface Point {
  /**
   * the name in other keys and in the view
   */
  name: string;
  /**
   * probe whose events these are
   */
  probe: string | null;
  /**
   * instead of `probe`: accesses that the microscope saw
   */
  lens: 'microscope' | null;
  /**
   * what a point is, in words
   */
  title: string;
  /**
   * integer fields of the event; columns a to f
   */
  fields: string[];
}
/**
 * A step of the story: a saved scene. Its text is in content.md under the same id.
 */
export interface Scene {
  /**
   * the name in links and in content.md
   */
  id: string;
  /**
   * former names of the step, for old links
   */
  was: string[];
  /**
   * the words in the list of steps
   */
  title: string;
  /**
   * the lanes, from the top
   */
  arms: string[];
  params: {
    [k: string]: number;
  };
  /**
   * visible guest ms; 0: as long as the moment's object
   */
  window_ms: number;
  /**
   * visible steps on a counting axis; excludes window_ms
   */
  window_steps: number;
  /**
   * wall seconds that the window plays at 1x
   */
  seconds: number;
  /**
   * the moment to show; `./duet views` lists the names
   */
  moment: string;
  /**
   * what the lanes are aligned at, on the left
   */
  align: 'time' | 'operation' | 'marker' | 'begin';
  /**
   * number of the operation that lanes are aligned at
   */
  operation: number;
  /**
   * kinds in focus; others are muted
   */
  focus: string[];
  /**
   * knobs, patch, latency, measured, hold (each lane stands still after one operation), and parts of the view
   */
  show: string[];
  /**
   * what the window must show; the window is searched in the run
   */
  must_show: MustShow | null;
  /**
   * the view knows the names
   */
  sentence: string;
  /**
   * default: the first
   */
  workload: string | null;
  /**
   * prediction that is asked before it
   */
  predict: string | null;
  /**
   * a rule to play with, beside the run; the view knows the names
   */
  toy: string | null;
  /**
   * differences on the count clock, in a lesson with both clocks
   */
  on_count: OnCount | null;
  /**
   * the step in one sentence, large over its picture on a slide; empty: the first sentence of its text
   */
  claim: string;
  /**
   * parts of lines of the patches that its slide shows; none: lines that run, of patches that no step before has shown
   */
  patch_at: string[];
  /**
   * for the speaker only, Markdown: what to say and to point at
   */
  notes: string;
  /**
   * of a class, for the speaker's clock; 0: no plan
   */
  minutes: number;
}
/**
 * Differences of a step on the count clock, where the guest has one vCPU.
 */
export interface OnCount {
  params: {
    [k: string]: number;
  };
  /**
   * one or two sentences, shown with the prose
   */
  note: string;
}
/**
 * A question asked before a run; the answer is computed from the events.
 */
export interface Prediction {
  /**
   * the question
   */
  question: string;
  /**
   * answers, from the smallest value up
   */
  choices: string[];
  /**
   * ops_ratio, or one of the view's answers
   */
  metric: string;
  /**
   * unit of the answer, in words; none for ops_ratio
   */
  unit: string;
  /**
   * @minItems 2
   * @maxItems 2
   */
  arms: [string, string];
  /**
   * rising limits between the choices
   */
  bounds: number[];
  params: {
    [k: string]: number;
  };
  /**
   * only for ops_ratio: the recorded table of this clock decides, untraced runs with these params, instead of the run on the stage
   */
  measured_on: ('wall' | 'count') | null;
  /**
   * also judge a run whose vCPUs waited for the host: the waiting is the effect
   */
  judged_when_busy: boolean;
}
/**
 * A task to point at a mark of `kind` or `also`, on `arm` or, with `any_lane`, on any lane.
 */
export interface Question {
  /**
   * one sentence: 'Point at ...'
   */
  ask: string;
  /**
   * the step that shows the mark
   */
  step: string;
  /**
   * kind of the mark
   */
  kind: string;
  /**
   * lane of the mark
   */
  arm: string;
  /**
   * other right kinds
   */
  also: string[];
  /**
   * a mark of another lane is right too
   */
  any_lane: boolean;
  /**
   * one sentence, shown when the mark was found
   */
  why: string;
}
/**
 * An objection, counter-proposal or later change, in one or two sentences each.
 */
export interface Remark {
  /**
   * what was said or done
   */
  said: string;
  /**
   * the outcome
   */
  became: string;
  /**
   * where it was said, the earliest first
   */
  sources: Source[];
  /**
   * where it can be tried on the page
   */
  tried: Trial[];
  /**
   * why it cannot be tried on the page, in one sentence
   */
  untried: string;
}
/**
 * A message or a commit: its author, date, and where to find it.
 */
export interface Source {
  /**
   * its author's name; several with commas
   */
  by: string;
  /**
   * 2023-06-09, 2023-06 or 2023
   */
  date: string;
  /**
   * subject of the message or commit
   */
  subject: string;
  /**
   * the message in an archive
   */
  link: string;
  /**
   * its id in mainline
   */
  commit: string;
}
/**
 * A state of the lesson's page that shows the point; missing fields keep the defaults.
 */
export interface Trial {
  /**
   * text of the link
   */
  title: string;
  /**
   * the step to open; default: the first
   */
  step: string | null;
  /**
   * lanes; default: those of the step
   */
  arms: string[];
  params: {
    [k: string]: number;
  };
  /**
   * default: that of the step
   */
  workload: string | null;
  /**
   * default: the lesson's
   */
  clock: ('wall' | 'count') | null;
  /**
   * arm whose patch is shown
   */
  patch: string | null;
}
/**
 * A figure of a mail. It is either tested here, or has a reason why that is impossible.
 */
export interface PublishedFigure {
  /**
   * what the figure is, in a few words
   */
  claim: string;
  /**
   * the figures as in the mail: '12916 to 2811 ops/s'
   */
  mail: string;
  /**
   * the figure in `unit`; that of `arm` if two are compared
   */
  value: number;
  /**
   * the figure of `to`, in the same unit
   */
  base: number | null;
  /**
   * unit of value and base; 'exponent' for a complexity
   */
  unit: string;
  /**
   * one line: the machine and the load
   */
  context: string;
  /**
   * one of `mails:`; default: the first
   */
  link: string | null;
  /**
   * arm over `to`; default: value over base
   */
  mail_ratio: number | null;
  /**
   * range of the ratio, if the mail gives one or its digits imply one
   */
  mail_interval: [number, number] | null;
  /**
   * a complexity: cost grows with n to this power
   */
  exponent: number | null;
  /**
   * why this machine cannot test it
   */
  not_testable: string;
  /**
   * CPUs of a host that can test it; see `duet pack`
   */
  needs_cpus: number;
  /**
   * our metric that corresponds to the mail's
   */
  metric: string | null;
  /**
   * our kernel for the mail's new one
   */
  arm: string | null;
  /**
   * our kernel for the mail's old one
   */
  to: string | null;
  params: {
    [k: string]: number;
  };
  to_params: {
    [k: string]: number;
  };
  /**
   * clock of the measurement here
   */
  clock: 'wall' | 'count';
  /**
   * 2^shift ns per instruction (count)
   */
  shift: number;
  /**
   * default: the first
   */
  workload: string | null;
  /**
   * why our result differs, shown when it is not simply reproduced
   */
  because: string;
}
/**
 * A published value that a chart of the view shows beside ours.
 */
export interface Reference {
  /**
   * the quantity; `./duet views` lists the names
   */
  quantity: string;
  /**
   * our kernel that it is shown beside
   */
  arm: string;
  params: {
    [k: string]: number;
  };
  /**
   * value in the unit of the quantity's axis
   */
  value: number;
  /**
   * description, shown on hover
   */
  title: string;
}
/**
 * A word, its meaning in one or two sentences, and a drawing.
 */
export interface Term {
  /**
   * the word as used in a sentence
   */
  name: string;
  /**
   * other forms, such as the plural
   */
  also: string[];
  /**
   * what it is, in one or two sentences
   */
  says: string;
  /**
   * a file of the folder drawings/; see docs/AUTHORING.md
   */
  drawing: string;
  /**
   * shown at the beginning of the first step
   */
  entry: boolean;
  /**
   * the other fields are in lessons/_common/terms.yaml
   */
  shared: boolean;
}
/**
 * A question with choices, or with a number as its answer.
 */
export interface QuizQuestion {
  /**
   * the question
   */
  ask: string;
  /**
   * two to five answers; none: the answer is a number
   */
  choices: string[];
  /**
   * the right choice, counted from 1
   */
  right: number | null;
  /**
   * the right number, if there are no choices
   */
  number: number | null;
  /**
   * tolerance of the answer, in the number's unit
   */
  within: number;
  /**
   * unit of the number, in words
   */
  unit: string;
  /**
   * one or two sentences, shown with the verdict
   */
  why: string;
  /**
   * the step whose picture answers it
   */
  step: string | null;
}
/**
 * stress of the workloads, for challenges and for tests/debug
 */
export interface Stress {
  /**
   * knobs; each entry is a separate turn of every workload
   */
  turns: {
    [k: string]: number;
  }[];
  /**
   * script of duet/trials/check/stress that runs in parallel
   */
  beside: string | null;
  /**
   * workloads during which nothing else reclaims
   */
  alone: string[];
  work: {
    [k: string]: string;
  };
}
/**
 * One recording of a lesson, from its bundle's manifest.
 */
export interface RecordingLine {
  name: string;
  lesson: string;
  params: {
    [k: string]: number;
  };
  arms: string[];
  clock: 'wall' | 'count';
  workload: string | null;
  /**
   * the parameter `seconds`; null: there is none
   */
  seconds: number | null;
  bytes: number;
  /**
   * ISO 8601 UTC
   */
  recorded_at: string | null;
}
/**
 * A lesson with a view, steps and an operation.
 */
export interface PictureLesson {
  /**
   * its name in lists
   */
  title: string;
  /**
   * the question it answers, one sentence
   */
  question: string;
  /**
   * two sentences for the front page
   */
  summary: string;
  /**
   * its default clock
   */
  clock: 'wall' | 'count';
  /**
   * wall: guest time follows the host's; count: one instruction is a fixed time
   */
  clocks: ('wall' | 'count')[];
  /**
   * 2^shift ns per instruction when its steps run on the count clock
   */
  shift: number;
  arms: ArmView[];
  /**
   * the call of `duet try` that wrote the lesson; empty: written by hand
   */
  made_by: string;
  /**
   * patches of all arms: those in both/ of its base and in the lesson's own both/; none: the unpatched source, if tracepoints and kprobes suffice
   */
  instrumentation: 'patches' | 'none';
  params: {
    [k: string]: Param;
  };
  workloads: {
    [k: string]: Workload;
  };
  /**
   * its cost is waiting: on the count clock it is reported at shift 0 and shift 3
   */
  waiting: boolean;
  /**
   * MiB of each guest
   */
  memory_mb: number;
  acts: {
    [k: string]: Act;
  };
  metrics: {
    [k: string]: Metric;
  };
  operation: Operation;
  /**
   * name of a row's thread
   */
  thread: string;
  view: string;
  /**
   * what an arrow key moves by; none: the operation
   */
  beat: Beat | null;
  kinds: Kind[];
  /**
   * events switched on in the guest
   */
  probes: Probe[];
  /**
   * paired entries and returns
   */
  spans: Span[];
  /**
   * strips below the threads
   */
  tracks: Track[];
  /**
   * arrows from tracks to rows
   */
  links: Link[];
  /**
   * structures that the x-ray reads
   */
  xray: XrayConfig[];
  /**
   * functions and object whose loads and stores are watched
   */
  microscope: MicroscopeConfig | null;
  /**
   * events that views draw one by one
   */
  points: Point[];
  /**
   * numbers over time, besides operations
   */
  counters: Counter[];
  /**
   * what the axis counts; none: guest time
   */
  axis: Axis | null;
  /**
   * lines of the patch to highlight while they run
   */
  lit: Lit[];
  scenes: Scene[];
  /**
   * scene shown on the front page
   */
  hero: string | null;
  predictions: {
    [k: string]: Prediction;
  };
  /**
   * asked after the last step, answered by pointing at a mark
   */
  questions: Question[];
  /**
   * what was said about the patch, and its outcome; shown after the last step
   */
  discussion: Remark[];
  /**
   * checked by lint and by the tests
   */
  claims: Claim[];
  mails: {
    [k: string]: Mail;
  };
  /**
   * every figure of the mails; duet measure --published tests them
   */
  published: PublishedFigure[];
  /**
   * published values that charts show beside ours
   */
  references: Reference[];
  /**
   * wrong conclusions to avoid, a sentence each
   */
  caveats: string[];
  /**
   * why no table of untraced runs is recorded, and what to look at instead
   */
  no_table: string;
  /**
   * in the order in which a reader meets them
   */
  terms: Term[];
  /**
   * what a reader explains at the end; none: nothing
   */
  explain: Explanation | null;
  /**
   * questions at the end, judged by the page
   */
  quiz: QuizQuestion[];
  challenges: {
    [k: string]: Challenge;
  };
  stress: Stress1;
  slug: string;
  content: {
    [k: string]: string;
  };
  recordings: RecordingLine[];
  ready: {
    [k: string]: boolean;
  };
  /**
   * all recorded tables of untraced runs, the headline first
   */
  measured: MeasuredTable[];
  drawings: {
    [k: string]: string;
  };
  /**
   * the arms' layouts on a machine's real CPUs; null: never measured
   */
  native: NativeView | null;
  /**
   * timer ticks a second of its kernels
   */
  hz: number;
  /**
   * version of the base kernel; '': not known
   */
  base: string;
}
/**
 * stress of the workloads, for challenges and for tests/debug
 */
export interface Stress1 {
  /**
   * knobs; each entry is a separate turn of every workload
   */
  turns: {
    [k: string]: number;
  }[];
  /**
   * script of duet/trials/check/stress that runs in parallel
   */
  beside: string | null;
  /**
   * workloads during which nothing else reclaims
   */
  alone: string[];
  work: {
    [k: string]: string;
  };
}
/**
 * A trace record as the kernel wrote it.
 */
export interface RawEvent {
  /**
   * since the start marker
   */
  t_ns: number;
  cpu: number;
  tid: number;
  task: string;
  event: string;
  fields: {
    [k: string]: string | number;
  };
}
/**
 * A saved live run. One that cannot be opened has no lesson, no arms and no other facts.
 */
export interface SavedRun {
  name: string;
  lesson: string | null;
  arms: string[];
  bytes: number;
  params?: {
    [k: string]: number;
  } | null;
  clock?: ('wall' | 'count') | null;
  workload?: string | null;
  seconds?: number | null;
  /**
   * ISO 8601 UTC
   */
  recorded_at?: string | null;
  /**
   * this visitor asked for it
   */
  yours: boolean;
  /**
   * this visitor may delete it
   */
  deletable: boolean;
}
/**
 * How the lesson's workloads run on a debug kernel, which is five to ten times slower.
 */
export interface Stress2 {
  /**
   * knobs; each entry is a separate turn of every workload
   */
  turns: {
    [k: string]: number;
  }[];
  /**
   * script of duet/trials/check/stress that runs in parallel
   */
  beside: string | null;
  /**
   * workloads during which nothing else reclaims
   */
  alone: string[];
  work: {
    [k: string]: string;
  };
}
