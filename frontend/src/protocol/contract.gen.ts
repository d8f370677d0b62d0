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
 * A run that this page requested has begun. Its messages follow, and the page shows it.
 */
export interface Begun {
  type: 'begun';
  run_id: string;
}
/**
 * Progress of a kernel build. A newer message replaces the previous one for the arm.
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
 * Progress of a visitor's change, sent only to that visitor's pages.
 *
 * A newer message replaces the previous one for the arm.
 *
 * Before the phase `wait`, the lesson is sent again, with the new arm. `start` and `measure`
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
 * A message from the compiler or patch(1) about a line.
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
   * column from 1; 0 means the whole line
   */
  column: number;
  severity: 'error' | 'warning';
  text: string;
}
/**
 * The state of a class, sent to each of its pages. A newer message replaces an older one.
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
   * false: the class has ended, or this page has left it
   */
  open: boolean;
  part: 'instructor' | 'member';
  /**
   * this page may send class_drive
   */
  driving: boolean;
  /**
   * name of the member who drives; empty: the instructor drives
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
 * Confirms to a member that an answer is stored on disk.
 *
 * When the member returns, the message is sent again for each answer.
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
 * Where a person pointed, as the server sends it.
 */
export interface Pointed {
  x: number;
  y: number;
  arm: string;
  row: number | null;
  t_ns: number | null;
}
/**
 * The number of lost members over time, sent to the instructor. A newer message replaces an
 * older one.
 */
export interface ClassConfusion {
  type: 'class_confusion';
  class_id: string;
  points: Confusion[];
}
/**
 * Number of members who said in one ten-second interval that they were lost.
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
 * The steps in which the class may try runs, sent to each page of the class. A newer message
 * replaces an older one.
 */
export interface ClassOpened {
  type: 'class_opened';
  class_id: string;
  steps: OpenedStep[];
  /**
   * members see everyone's tries, not only their own
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
 * A step that is open for tries.
 */
export interface OpenedStep {
  lesson: string;
  step: string;
  patches: boolean;
}
/**
 * A member's own stored questions and votes, sent to that member's pages.
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
 * A member's question, without its author.
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
   * only the instructor and the member who asked it get it
   */
  hidden: boolean;
}
/**
 * The driver's position. A newer message replaces an older one. New and reconnecting pages
 * receive it immediately.
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
   * rises with each position, also across a server restart
   */
  number: number;
  /**
   * seconds since the driver sent it; a page that plays adds them
   */
  age_s: number;
  /**
   * Unix time in ns when the server sent it
   */
  sent_ns: number;
}
/**
 * The driver's spotlight, as the server sends it.
 */
export interface Spot {
  arm: string;
  row: number | null;
  t_ns: number | null;
}
/**
 * A question to the class, sent to everyone. A newer message with the same step and question
 * replaces an older one.
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
   * the round that is open, or the last one
   */
  round: number;
  revealed: boolean;
}
/**
 * Members' questions, sorted by votes. A newer message replaces an older one.
 *
 * The instructor receives all questions. Once questions are shown, members receive all questions
 * that are not hidden.
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
 * All members of a class, sent to the instructor at most once a second. A newer message
 * replaces an older one.
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
 * The observed member's position, sent to the observing page. A newer message replaces an older
 * one.
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
 * The answers to a question so far. A newer message with the same step and question replaces an
 * older one.
 *
 * The instructor receives the tally live, at most 4 times a second. All other members receive it
 * only after the answers are revealed.
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
 * The answers of one round.
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
 * Number of members who gave a certain answer.
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
 * The timer on all screens. Each page counts down with its own clock. A newer message replaces
 * an older one.
 */
export interface ClassTimer {
  type: 'class_timer';
  class_id: string;
  /**
   * seconds for which it was set, plus any extension; 0: no timer is set
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
 * The tries that this page may see, sent at most twice a second. A newer message replaces an
 * older one.
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
   * the first maker comes first
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
   * the changed patch in one line; empty: no patch was changed
   */
  summary: string;
  /**
   * id of the run, live and saved
   */
  run: string;
  state: 'waiting' | 'running' | 'done' | 'failed';
  /**
   * place in the queue; null: it waits for its maker's other tries
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
 * The number that a traced run shows. It is an illustration, not a measurement.
 */
export interface TryResult {
  title: string;
  unit: string;
  better: 'higher' | 'lower' | 'neither';
  /**
   * at most two lanes: the compared lane and the one it is compared with
   */
  lanes: TryLane[];
  /**
   * second value divided by the first; null: there are not two values
   */
  ratio: number | null;
}
/**
 * The number that one lane shows.
 */
export interface TryLane {
  arm: string;
  title: string;
  value: number;
}
/**
 * Whether the instructor observes a member, sent to that member's pages. A newer message
 * replaces an older one.
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
 * State of an observation, sent to the instructor's page that requested it. A newer message
 * replaces an older one.
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
   * refused: the member does not want it, or no longer wants it; away: the member has no page open
   */
  phase: 'none' | 'asking' | 'watched' | 'refused' | 'away';
}
/**
 * This page is now in the class. The messages `class`, `class_place` and all `class_question`
 * follow.
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
   * the secret with which the member can return; the page stores it. Empty: the instructor
   */
  secret: string;
}
/**
 * The visitor in control of the live run that this page watches.
 *
 * A newer message replaces the previous one.
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
 * Batches that this viewer misses because its outbox or the replay buffer was full.
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
 * Message on an idle connection. It shows that the connection and the server still work.
 */
export interface Heartbeat {
  type: 'heartbeat';
}
/**
 * Hold state of a lane. A newer message replaces the previous one.
 *
 * A guest stops a few accesses after the request.
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
 * A lesson in the list that Hello contains.
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
 * Progress and result of a judgement, sent to its requester.
 *
 * A newer message replaces the previous one for the challenge.
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
   * the reason, in one sentence
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
   * limits of a goal or rule, or ''
   */
  wanted: string;
  found: string;
  /**
   * null: it cannot be judged on this server
   */
  holds: boolean | null;
}
/**
 * State of one lane. A newer message replaces the previous one.
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
   * null if not measured, as on the count clock, where contention does no harm
   */
  contention: Contention | null;
}
/**
 * CPU time that a lane's vCPUs used, and time that they waited for a CPU, since the start.
 *
 * A run is distorted if the waiting time of all lanes is more than the fraction `bound` of waiting
 * time plus CPU time.
 */
export interface Contention {
  /**
   * seconds on a CPU, summed over all vCPUs
   */
  ran_s: number;
  /**
   * seconds in which a vCPU was runnable without a CPU, or its CPU was stolen
   */
  waited_s: number;
  /**
   * fraction of time spent waiting above which times are distorted, 0 to 1
   */
  bound: number;
}
/**
 * State of a lane's lens. A newer message replaces the previous one.
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
   * name of another host that measured it, from a pack
   */
  on: string;
  /**
   * the curve that the table is a point of; empty if it has the headline metric
   */
  curve: string;
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
 * An arm's row in a measured table.
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
   * 2^shift ns per instruction; null on the wall clock
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
   * key of the build in the kernel store
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
  /**
   * 'PATH VALUE': what the guest wrote before the workload, in order
   */
  writes: string[];
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
 * One lane's counts so far. A newer message replaces the previous one.
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
 * Quantiles of the lesson's waits in ns; null if there were no waits.
 */
export interface Waits {
  p50: number | null;
  p95: number | null;
  max: number | null;
  n: number;
}
/**
 * Progress of reading a recording, sent between batches of the recording.
 */
export interface Reading {
  type: 'reading';
  run_id: string;
  /**
   * minimum number of decoded transcript bytes
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
 * All known rows of a lane. The list replaces the previous one.
 */
export interface Rows {
  type: 'rows';
  run_id: string;
  arm: string;
  rows: Row[];
}
/**
 * A row of a lane: a thread of the workload, another process of the workload, or a track.
 */
export interface Row {
  row: number;
  tid: number;
  name: string;
  role: 'thread' | 'other' | 'track';
}
/**
 * State of a run. A newer message replaces the previous one.
 */
export interface Run {
  type: 'run';
  run_id: string;
  lesson: string;
  source: 'live' | 'recorded';
  purpose: 'explain' | 'measure';
  clock: 'wall' | 'count';
  /**
   * count clock: 2^shift ns per instruction
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
 * Live runs of this server, and this visitor's queued run.
 *
 * A newer message replaces the previous one.
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
 * One x-ray reading of a structure. The probe defines columns, facts and texts.
 *
 * At any moment, the newest sample up to that moment is valid.
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
 * Report that the page has handled `n` messages in total. This limits messages in flight.
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
 * Build one of the lesson's arms with a change that this visitor made.
 *
 * Sending the same change of an arm again does not start a second build. A new change replaces the
 * visitor's queued change.
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
 * A member's answer: a choice, a value or a mark. A later answer in the round replaces it.
 *
 * Args:
 *     step: step of the prediction; empty for a free poll.
 *     question: id of the prediction or poll.
 *     choice: number of the option, from 0.
 *     value: the answer to a question about a number.
 *     right: the page's judgement if the prediction has a right answer; shown only in reports.
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
 * A member's mark, as the member's page sends it.
 */
export interface Mark {
  x: number;
  y: number;
  arm?: string;
  row?: number | null;
  t_ns?: number | null;
}
/**
 * The instructor asks the class a question, or opens the question's second round.
 *
 * Args:
 *     step: step that has the lesson's prediction; empty for a free poll.
 *     question: the page's id of the prediction, or an earlier poll's id; empty for a new poll.
 *     round: 2 opens the second vote in think-pair-share.
 *     text: question text of a new poll.
 *     options: 2 to 6 options of a new poll, or the labels of a prediction's choices if it has
 *         any.
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
 * A member says that they are lost at this moment. The server counts it without a name.
 */
export interface Confused {
  type: 'class_confused';
}
/**
 * A member gives or withdraws consent to be observed by the instructor in this class.
 */
export interface Consent {
  type: 'class_consent';
  allowed: boolean;
}
/**
 * The instructor starts the timer, extends it, or stops it.
 *
 * Args:
 *     act: what to do; `start` also resets a running timer.
 *     seconds: time from now for `start`, or time to add for `extend`.
 */
export interface CountDown {
  type: 'class_count_down';
  act: 'start' | 'extend' | 'stop';
  seconds?: number;
}
/**
 * The driver's new position. It is sent up to 10 times a second, and replaces the former
 * position.
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
 * The driver's spotlight, as the driver's page sends it.
 */
export interface Spotlight {
  arm: string;
  row?: number | null;
  t_ns?: number | null;
}
/**
 * The instructor ends the class. The answers are kept for the report.
 */
export interface EndClass {
  type: 'class_end';
}
/**
 * A member follows the driver or explores a step. The page sends this after a change or
 * activity.
 *
 * Args:
 *     step: the step that the member sees.
 */
export interface Follow {
  type: 'class_follow';
  following: boolean;
  step?: string;
}
/**
 * Delete what this class stores about this member, such as the nickname and all answers.
 */
export interface ForgetMe {
  type: 'class_forget';
}
/**
 * The instructor makes a member the driver, or becomes the driver again.
 *
 * Args:
 *     member: id from the roster; empty if the instructor drives.
 */
export interface HandWheel {
  type: 'class_hand';
  member?: string;
}
/**
 * An observed member's new position. Without the member's consent, the server refuses the
 * position.
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
 * Join with the class code, or return with the secret from `class_welcome`.
 *
 * Args:
 *     code: three words, separated by spaces or `-`.
 *     nickname: the student's choice; not needed with a known secret.
 *     secret: from an earlier `class_welcome` of this class. With an unknown secret, the page
 *         joins as a new member.
 */
export interface JoinClass {
  type: 'class_join';
  code: string;
  nickname?: string;
  secret?: string;
}
/**
 * This page leaves the class. Its member can return with the secret.
 */
export interface LeaveClass {
  type: 'class_leave';
}
/**
 * The instructor opens a step, so that the class may try runs there, or closes the step.
 *
 * Args:
 *     knobs: whether members may turn knobs in that step.
 *     patches: whether members may also change patches, if the server builds changes.
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
 *     step: the step that the member sees.
 */
export interface RaiseQuestion {
  type: 'class_raise';
  text: string;
  step?: string;
}
/**
 * The instructor removes a member and deletes what the class stores about them.
 *
 * Args:
 *     member: id from the roster.
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
 * The instructor shows everyone the answers. Later answers are refused.
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
 *     answered: whether the question has been answered.
 *     hidden: whether the question is hidden from members and reports.
 */
export interface SettleRaised {
  type: 'class_settle';
  number: number;
  answered: boolean;
  hidden: boolean;
}
/**
 * The instructor shows all members the class's tries, or hides the tries.
 */
export interface ShowGallery {
  type: 'class_show_gallery';
  shown: boolean;
}
/**
 * The instructor shows the members' questions to all members, or hides the questions.
 */
export interface ShowRaised {
  type: 'class_show_raised';
  shown: boolean;
}
/**
 * Start a class on a lesson. This visitor becomes its instructor. The answer is
 * `class_welcome`.
 */
export interface StartClass {
  type: 'class_start';
  lesson: string;
  title?: string;
}
/**
 * A member withdraws a waiting try. The try still runs if another member wants it.
 */
export interface TakeBackTry {
  type: 'class_take_back';
  number: number;
}
/**
 * A member tries a run in a step that is open for tries. The other fields are those of `start`.
 *
 * The try is queued after this member's other tries and replaces none of them. If the class
 * already has an identical try, both tries share one run, and this member is added to its makers.
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
 * The instructor's page asks to observe a member.
 *
 * Args:
 *     member: id from the roster; empty to stop.
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
 *     on: True to hold them, False to resume them.
 *     after: number of further accesses before the guests stop.
 */
export interface Hold {
  type: 'hold';
  on: boolean;
  after?: number;
}
/**
 * Judge an arm by a challenge of its lesson, when the request reaches the head of the queue.
 *
 * Args:
 *     arm: the challenge's base arm with a visitor's change, which must be built already.
 */
export interface Judge {
  type: 'judge';
  lesson: string;
  challenge: string;
  arm: string;
}
/**
 * Fill the measured table by running one guest at a time, untraced, in the order A B B A.
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
 * Show a lesson with a given run, or with the recording that best fits a step.
 *
 * Args:
 *     run: id of a run, which may be live; name of a recording of the lesson; `recorded` for the
 *         default; or `none` for the lesson without a run.
 *     step: the step that the recording must fit; default: the first step.
 *     segments: whether this page can fetch segments. If False, the page gets all messages over
 *         the WebSocket.
 */
export interface Open {
  type: 'open';
  lesson: string;
  run?: string | null;
  step?: string | null;
  segments?: boolean;
}
/**
 * Start a live run, now or when the request reaches the head of the queue (see `runs`).
 *
 * The request replaces the visitor's queued request. It also stops the visitor's current run,
 * unless other visitors share that run or wait in the queue. Identical requests share a run.
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
 *     run: id of the run. Without an id, the command applies to the visitor's queued request and
 *         to the live run that the visitor watches or has started.
 */
export interface Stop {
  type: 'stop';
  run?: string | null;
}
/**
 * An exact count of accesses by the microscope's functions to one place in memory.
 */
export interface AccessCount {
  /**
   * an atomic operation counts as one rmw (read-modify-write); `accesses` counts all kinds
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
   * `operation`: average per operation; `run`: total of the run
   */
  per: 'operation' | 'run';
}
/**
 * An act of a viewer on a live run, which is sent to the workload's standard input.
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
 * An answer, in a field that depends on the task's kind. The other fields are null.
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
 * A mark to which somebody pointed in the picture. Times are guest times.
 */
export interface MarkGiven {
  run: string;
  arm: string;
  kind: string;
  t0_ns: number;
  t1_ns: number;
}
/**
 * The part of an arm's source that can be changed.
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
 * A kernel source file with the arm's patches applied.
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
 * Range of lines that an arm's patches touch in a file, 1-based, both ends included.
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
 * A kernel's source tree, as reports describe it. `duet try` writes this part.
 */
export interface ArmTree {
  /**
   * version in its Makefile
   */
  version: string;
  /**
   * full hash of HEAD; empty if the tree is not a repository
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
   * whether the files differ from the commit
   */
  dirty: boolean;
  /**
   * SHA-256 of the diff from the commit to the files; empty if there is no diff
   */
  changes: string;
  /**
   * how many of the arm's patches, counted from the first, the tree already contains
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
   * its role in the comparison
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
   * 'PATH VALUE' below /proc/sys or /sys: what the guest writes after it has booted, before a workload prepares its run; arms with one kernel differ by this alone
   */
  writes: string[];
  /**
   * source tree from which it was made, if `base` belongs to a trial
   */
  source: ArmTree | null;
  /**
   * whether it is built, run and measured only if it is named; it is not part of the comparison
   */
  optional: boolean;
  patch_texts: PatchText[];
}
/**
 * One patch in `git format-patch` form. `text` is empty if the file is unreadable.
 */
export interface PatchText {
  file: string;
  subject: string;
  body: string;
  text: string;
}
/**
 * The points that the picture's axis counts instead of guest time. Each point is one step.
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
   * workloads whose axis counts; the axis of others shows time; default: every workload
   */
  workloads: string[];
}
/**
 * The points to which an arrow key moves, instead of moving to the next operation.
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
   * where to begin; a hint for readers who are stuck
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
   * regular expressions that no line added by the change may match
   */
  without: string[];
  /**
   * litmus tests that show why barriers are needed; they judge a change that removes a barrier
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
   * smallest value, in the metric's unit
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
 * Memory accesses that CPUs make at the same time, and a result that must never occur.
 */
export interface Litmus {
  /**
   * what the order ensures, in words
   */
  says: string;
  /**
   * where these accesses are in the kernel
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
 * Limits that tests check for an arm.
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
   * smallest value, in the metric's unit
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
 * A class in the list of classes that this visitor started.
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
 * The answers, questions and tries of a class, without names.
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
 * One question put to a class. The step is empty for a free poll.
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
   * where members pointed: x and y as fractions of the picture's size
   */
  marks: number[][];
}
/**
 * A question that a member asked, without anything that identifies the member.
 */
export interface ReportRaised {
  step: string;
  text: string;
  votes: number;
  answered: boolean;
}
/**
 * Number of members who said in one ten-second interval that they were lost.
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
 * A run that members requested.
 */
export interface ReportTry {
  number: number;
  lesson: string;
  step: string;
  /**
   * how many members requested it
   */
  makers: number;
  turned: {
    [k: string]: number;
  };
  /**
   * the changed patch in one line; empty: no patch was changed
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
   * title of the run's one number; empty: it has none
   */
  title: string;
  unit: string;
  values: {
    [k: string]: number;
  };
  /**
   * second value divided by the first; null: there are not two values
   */
  ratio: number | null;
}
/**
 * A comparison of two recordings of one lesson. Differences come first.
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
 * One difference between two recordings. `arm` is empty if the difference concerns all arms.
 */
export interface Difference {
  of: 'run' | 'kernel' | 'config' | 'patches' | 'build' | 'host' | 'programs';
  what: string;
  arm: string;
  recorded: string;
  now: string;
}
/**
 * One figure in two recordings. `ratio` is the second value divided by the first.
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
 * For a `point`, the number counts events since the start of the window. With `field`, the
 * number is the field's value. With `sum`, the number is the sum of these values. For `xray`, the
 * number is the fact `field` in the probe's samples.
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
   * whether to sum the field's values within the window
   */
  sum: boolean;
}
/**
 * The answer of a prediction over a grid: where a curve's ratio of two arms passes a limit.
 *
 * The value is the first recorded value of the curve's knob at which the ratio is below or above
 * the limit; without such a value, the last choice is right.
 */
export interface Crossing {
  /**
   * a grid of lesson.yaml
   */
  grid: string;
  /**
   * one of its curves
   */
  curve: string;
  /**
   * the ratio falls below this
   */
  below: number | null;
  /**
   * the ratio rises above this
   */
  above: number | null;
}
/**
 * A metric as a function of one knob, with a measured table per value of the knob.
 *
 * A host with too few CPUs for a point leaves the point out. `./duet pack` packs the measurement
 * of such a point for another host.
 */
export interface Curve {
  /**
   * the knob on the axis
   */
  over: string;
  /**
   * the arms; each has one line
   */
  arms: string[];
  /**
   * knobs of each table; the others have their defaults
   */
  points: {
    [k: string]: number;
  }[];
  /**
   * clock of the measurements
   */
  clock: 'wall' | 'count';
  /**
   * default: the first
   */
  workload: string | null;
  /**
   * a line metric of the workload; default: the headline
   */
  metric: string | null;
}
/**
 * The name of what was deleted.
 */
export interface Deleted {
  deleted: string;
}
/**
 * An event in the guest's tracefs.
 *
 * In `define` and `filter`, {sym:NAME} is replaced by the symbol's address, {offset:STRUCT.MEMBER}
 * by the member's offset in bytes, and {sizeof:STRUCT} by the structure's size in bytes.
 */
export interface Event {
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
  explain_max: {
    [k: string]: number;
  };
}
/**
 * What a reader must explain in three sentences, and the lesson's own explanation.
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
 * Why a request failed, in words for a person.
 */
export interface Failure {
  code: string;
  sentence: string;
  remedy: string;
  detail?: string;
  run?: string | null;
}
/**
 * Body of every response with a status of 400 or above.
 */
export interface FailureBody {
  error: Failure;
}
/**
 * Recordings for all combinations of some knobs' values. Turning these knobs needs no guest.
 *
 * `./duet record LESSON --grid all` records them on the lesson's clock.
 */
export interface Grid {
  /**
   * the lanes of each recording
   */
  arms: string[];
  over: {
    [k: string]: number[];
  };
  params: {
    [k: string]: number;
  };
  /**
   * default: the first
   */
  workload: string | null;
  /**
   * how much of each lane to keep; default: all
   */
  window_ms: number | null;
  curves: {
    [k: string]: GridCurve;
  };
}
/**
 * One number of a grid's recordings as a function of one knob, for the panel `grid`.
 */
export interface GridCurve {
  /**
   * what the number is, with its unit if the metric has none
   */
  title: string;
  /**
   * the knob on the axis; one of the grid's `over`
   */
  over: string;
  /**
   * the metric: a line of the workload, events or accesses
   */
  metric: string;
  /**
   * whether the panel also shows each arm's ratio to the first arm
   */
  per: boolean;
}
/**
 * The recording of one cell of a grid, with the numbers of the grid's curves.
 *
 * recorded/grid.json is a list of these objects.
 */
export interface GridCell {
  name: string;
  lesson: string;
  params: {
    [k: string]: number;
  };
  arms: string[];
  clock: 'wall' | 'count';
  workload: string | null;
  /**
   * the parameter `seconds`; null if there is none
   */
  seconds: number | null;
  bytes: number;
  /**
   * ISO 8601 UTC
   */
  recorded_at: string | null;
  grid: string;
  /**
   * of the bundle
   */
  sha256: string;
  /**
   * the machine that recorded it, in words
   */
  host: string;
  /**
   * how much of each lane is kept; null: all
   */
  window_ms: number | null;
  values: {
    [k: string]: {
      [k: string]: number;
    };
  };
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
 * A lane of a live run. `pid` is the id of the guest's process, and null after that process
 * has ended.
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
 * How many connections or sockets are open, and how many are allowed.
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
 * A kind of mark. The index in the list of kinds is the kind's number in messages.
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
   * state: a thread's state; function: a span on a thread; track: a strip below; mark: the view draws it from points
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
   * whether the legend of every step shows it
   */
  always: boolean;
}
/**
 * A lab in the list of all labs.
 */
export interface LabLine {
  slug: string;
  title: string;
  /**
   * lesson of its first task
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
 * All answers in a lab, for the person who grades them.
 */
export interface LabRecord {
  lab: string;
  rubrics: {
    [k: string]: string[];
  };
  people: PersonRecord[];
}
/**
 * All attempts of one person in a lab.
 */
export interface PersonRecord {
  person: string;
  name: string;
  /**
   * where the hash chain is broken; empty if it is intact
   */
  broken: string;
  attempts: RecordedAttempt[];
}
/**
 * A stored attempt, with the hash that links it into the chain.
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
   * the answer's run, for a link; null if it has none
   */
  run: string | null;
  /**
   * ISO 8601 UTC
   */
  at: string;
  /**
   * whether it came before the end of the grace period
   */
  counts: boolean;
  sha256: string;
  /**
   * share of the task's points, 0 to 1; null if not graded
   */
  share: number | null;
  /**
   * points that a person gave; null if nobody did
   */
  grade: number | null;
  comment: string;
}
/**
 * The scores of all participants in a lab.
 */
export interface LabScores {
  lab: string;
  title: string;
  most: number;
  people: PersonScore[];
}
/**
 * A person's score in a lab.
 */
export interface PersonScore {
  person: string;
  name: string;
  points: number;
  most: number;
  complete: boolean;
  /**
   * number of attempts after the deadline, including the grace period
   */
  late: number;
  /**
   * ISO 8601 UTC, of the newest attempt or grade
   */
  at: string;
  tasks: TaskPoints[];
}
/**
 * A person's points for one task.
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
   * maximum number of characters of a text; null if no text is asked for
   */
  chars: number | null;
  /**
   * what a run is to reach, in words
   */
  limits: string[];
  /**
   * number of the lesson's question that is answered by pointing, from 1
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
   * end of the grace period; null if there is no deadline
   */
  closes: string | null;
  open: boolean;
  points: number;
  tasks: LabTask[];
}
/**
 * An entry in the list of all lessons.
 */
export interface LessonLine {
  slug: string;
  title: string;
  question: string;
}
/**
 * An arrow from a track to a row, drawn for an `event` while the phase `during` is open.
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
 * A patch line to highlight while a span of `kind` is open on the arm with this line.
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
   * name for the thread that is on the line; default: the lesson's `thread`
   */
  who: string;
}
/**
 * A mail or web page from which figures are quoted.
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
   * its web address; leave it out if unknown
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
   * name of another host that measured it, from a pack
   */
  on: string;
  /**
   * the curve that the table is a point of; empty if it has the headline metric
   */
  curve: string;
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
 * A number that describes a run, from exactly one of SOURCES.
 *
 * A `line` metric comes from untraced runs. On the wall clock, it is measured; on the count clock,
 * its time is a number of counted instructions. `event`, `span` and `pending` metrics come from a
 * counted run, in which only the metrics' probes are enabled. `dwarf` metrics are read from
 * vmlinux. `microscope` metrics come from a run under the lesson's microscope, on the wall clock.
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
   * probes at entry and return on one thread; the value is the time between in ns
   */
  span: [string, string] | null;
  /**
   * probes of begin and end, on any threads; value is how many have begun and not ended, at each begin and end
   */
  pending: [string, string] | null;
  /**
   * how several values become one; default: last for `line`, sum for `event`, mean for `span`, max for `pending`
   */
  pick: ('last' | 'first' | 'sum' | 'mean' | 'max' | 'min' | 'p50') | null;
  /**
   * count only between the trace markers '<phase>: start' and '<phase>: end'
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
   * resolution of its clock, in `unit`; no ratio is given for values below ten times that
   */
  resolution: number;
  /**
   * whether the kernel updates it at its tick, so that it gets no verdict on the count clock
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
   * whether it is only reported and gets no verdict
   */
  extra: boolean;
}
/**
 * The microscope, a QEMU plugin that observes each load and store of chosen functions.
 *
 * To watch an object, the workload creates the object, prints `ready` and waits for `go` on its
 * standard input. Meanwhile the x-ray finds the object, and the microscope begins to watch it.
 * Without an object the microscope counts from the workload's start, which is enough for metrics
 * of variables.
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
  bases: {
    [k: string]: {
      [k: string]: string;
    };
  };
  /**
   * maximum number of accesses that are stored one by one
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
 * A number of items that each lane must show in the step's window.
 *
 * Items are spans, points, links, operations, or intervals between samples. For a lower bound,
 * only visible items count. A span is visible if the complete span is inside the window, or if the
 * part inside covers at least a twentieth of the window. For an upper bound, every item that
 * overlaps the window counts.
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
   * instead of `kind`: the time between samples of this x-ray probe that fits `where`; adjacent intervals count as one
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
   * count only the time during which this many overlap; `all` means one on every thread
   */
  at_once: number | 'all';
  /**
   * whether it must begin and end in the window
   */
  whole: boolean;
  /**
   * shortest duration in ms of guest time
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
   * if several windows qualify, take the one that has the most of this
   */
  most: boolean;
  /**
   * the step starts playing just before the first of these
   */
  opens: boolean;
}
/**
 * An attempt that this visitor made.
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
   * the answer's run; null if it has none
   */
  run: string | null;
  /**
   * null: not shown yet, or not graded
   */
  points: number | null;
  comment: string;
}
/**
 * This visitor's progress in a lab.
 */
export interface MyLab {
  lab: string;
  /**
   * null if it is unknown
   */
  name: string | null;
  /**
   * whether a learning platform provides the name
   */
  named: boolean;
  /**
   * points of the tasks whose points are shown; null if none are
   */
  points: number | null;
  tasks: MyTask[];
}
/**
 * This visitor's progress in a task.
 */
export interface MyTask {
  task: string;
  made: number;
  /**
   * number of attempts that are left; null means any number
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
 * Operations per second of all threads: median, lowest and highest value of several runs.
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
 * Ratio of two arms' rates with all threads, and the ratio's 95 % confidence interval.
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
 * A lesson without a view, whose numbers come from the command line.
 */
export interface NumbersLesson {
  /**
   * its name in lists
   */
  title: string;
  /**
   * the question that it answers, in one sentence
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
   * the `duet try` command that wrote the lesson; empty if an author wrote it
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
   * whether its cost is waiting time; results on the count clock are then reported at shift 0 and shift 3
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
  grids: {
    [k: string]: Grid;
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
   * events to enable in the guest
   */
  probes: Probe[];
  /**
   * paired entries and returns
   */
  spans: Span[];
  /**
   * strips below the thread rows
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
  curves: {
    [k: string]: Curve;
  };
  /**
   * wrong conclusions to avoid, each in one sentence
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
   * what a reader must explain at the end; leave it out for no explanation
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
  /**
   * recordings of the grids
   */
  cells: GridCell[];
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
 * A knob. Changing it requires new guests (`boot`), a new run (`run`) or neither (`model`).
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
   * largest value in the measurement of a published figure, on a host that has enough CPUs
   */
  measured_max: number | null;
  /**
   * the allowed values
   */
  choices: number[];
  /**
   * text for each choice
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
   * kernel bases that lack the file to which workloads write the value; there such a write is left out, and the kernel does what it does with the default
   */
  absent_on: string[];
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
   * size of the scratch disk in MiB; 0 means no disk
   */
  scratch_mb: number;
  /**
   * whether its standard input takes the lines of the lesson's acts
   */
  input: boolean;
  /**
   * glob for the names of its processes
   */
  comm: string;
  /**
   * regex for thread names with one group, by which rows are ordered; ^$ means no rows
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
 * An operation, which lasts from `open` to `close` on one thread.
 *
 * Without these probes no event marks an operation, but the microscope can still count operations.
 */
export interface Operation {
  /**
   * name of one operation, e.g. 'umount'
   */
  name: string;
  /**
   * name of several operations, e.g. 'umounts'
   */
  plural: string;
  /**
   * probe at which it begins
   */
  open: string | null;
  /**
   * probe at which it ends, on the same thread
   */
  close: string | null;
}
/**
 * An event to enable in the guest.
 */
export interface Probe {
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
  explain_max: {
    [k: string]: number;
  };
  /**
   * the name in other keys
   */
  name: string;
  /**
   * default: every arm
   */
  arms: string[];
  bases: {
    [k: string]: Event | 'absent';
  };
  /**
   * false: it is only for metrics and is not enabled in explain runs
   */
  explain: boolean;
}
/**
 * A function's entry and return on one thread. `wait` is the state of sleeps in between.
 */
export interface Span {
  /**
   * function kind to draw; none if it serves only as the cause of a sleep
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
   * state kind for off-CPU time inside the span
   */
  wait: string | null;
}
/**
 * A strip below the thread rows, drawn from events of kernel threads.
 */
export interface Track {
  /**
   * the name in other keys
   */
  name: string;
  /**
   * the text next to the strip
   */
  title: string;
  /**
   * field of the events that tells the phase
   */
  field: string;
  /**
   * its phases; the first that matches is taken
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
 * A phase change of a track.
 *
 * The phase `opens` begins at each `event` in which the track's `field` has the value `value`.
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
 * A structure in the running kernel that the x-ray reads (docs/PROBES.md).
 */
export interface XrayConfig {
  /**
   * a file of the lesson's probes/ or a generic one, e.g. variable; with dashes, without .py
   */
  probe: string;
  /**
   * samples per second of host time
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
 * With `lens: microscope` a point is one access to the watched object, and its fields are those in
 * ACCESS.
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
 * A step of the story: a saved scene, whose text is in content.md below the same id.
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
   * its title in the list of steps
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
   * the event at which lanes are aligned, at the left edge
   */
  align: 'time' | 'operation' | 'marker' | 'begin';
  /**
   * number of the operation at which lanes are aligned
   */
  operation: number;
  /**
   * kinds in focus; other kinds are muted
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
   * prediction that is asked before the step
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
   * planned time in a class, for the speaker's clock; 0 means no plan
   */
  minutes: number;
}
/**
 * What a step changes on the count clock, where the guest has one vCPU.
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
 * A question before a run, whose answer is computed from the run's events.
 */
export interface Prediction {
  /**
   * the question
   */
  question: string;
  /**
   * answers in order of rising value
   */
  choices: string[];
  /**
   * ops_ratio, crossing, or one of the view's answers
   */
  metric: string;
  /**
   * unit of the answer, in words; none for ops_ratio
   */
  unit: string;
  /**
   * only for the metric crossing: the curve that answers
   */
  crossing: Crossing | null;
  /**
   * @minItems 2
   * @maxItems 2
   */
  arms: [string, string];
  /**
   * limits between the choices, in rising order
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
   * whether to judge even a run whose vCPUs waited for the host, because the waiting is the effect
   */
  judged_when_busy: boolean;
}
/**
 * A task to point at a mark of a given kind: on the lane of `arm`, or on any lane.
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
   * other kinds that are right
   */
  also: string[];
  /**
   * whether a mark on any other lane is right too
   */
  any_lane: boolean;
  /**
   * one sentence, shown when the mark was found
   */
  why: string;
}
/**
 * An objection, a counter-proposal or a later change, in one or two sentences each.
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
   * its author's name; separate several authors with commas
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
   * its commit id in mainline
   */
  commit: string;
}
/**
 * A state of the page that demonstrates a remark. Missing fields have their defaults.
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
 * A figure from a mail. The figure is tested here, or a reason says why it is not tested.
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
   * the figure in `unit`; if two are compared, that of `arm`
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
   * range of the ratio, if the mail gives a range or its digits imply one
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
 * A published value that a chart of the view shows next to our value.
 */
export interface Reference {
  /**
   * the quantity; `./duet views` lists the names
   */
  quantity: string;
  /**
   * our kernel next to which it is shown
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
 * A term, its meaning in one or two sentences, and a drawing.
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
   * a file in the folder drawings/; see docs/AUTHORING.md
   */
  drawing: string;
  /**
   * shown at the beginning of the first step
   */
  entry: boolean;
  /**
   * whether the other fields are in lessons/_common/terms.yaml
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
   * two to five answers; none if the answer is a number
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
   * unit unit of the number, in words
   */
  unit: string;
  /**
   * why it is right, in one or two sentences shown with the verdict
   */
  why: string;
  /**
   * the step whose picture answers it
   */
  step: string | null;
}
/**
 * stress test of the workloads, for challenges and for tests/debug
 */
export interface Stress {
  /**
   * knobs of each turn; every workload runs once per turn
   */
  turns: {
    [k: string]: number;
  }[];
  /**
   * script of duet/trials/check/stress that runs in parallel
   */
  beside: string | null;
  /**
   * workloads that run while nothing else reclaims memory
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
   * the parameter `seconds`; null if there is none
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
   * the question that it answers, in one sentence
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
   * the `duet try` command that wrote the lesson; empty if an author wrote it
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
   * whether its cost is waiting time; results on the count clock are then reported at shift 0 and shift 3
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
  grids: {
    [k: string]: Grid;
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
   * events to enable in the guest
   */
  probes: Probe[];
  /**
   * paired entries and returns
   */
  spans: Span[];
  /**
   * strips below the thread rows
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
  curves: {
    [k: string]: Curve;
  };
  /**
   * wrong conclusions to avoid, each in one sentence
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
   * what a reader must explain at the end; leave it out for no explanation
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
  /**
   * recordings of the grids
   */
  cells: GridCell[];
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
   * timer ticks per second of its kernels
   */
  hz: number;
  /**
   * version of the base kernel; '': not known
   */
  base: string;
}
/**
 * stress test of the workloads, for challenges and for tests/debug
 */
export interface Stress1 {
  /**
   * knobs of each turn; every workload runs once per turn
   */
  turns: {
    [k: string]: number;
  }[];
  /**
   * script of duet/trials/check/stress that runs in parallel
   */
  beside: string | null;
  /**
   * workloads that run while nothing else reclaims memory
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
 * A saved live run. If it cannot be opened, it has no lesson, no arms and no other facts.
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
 * How to run the lesson's workloads on a debug kernel, which is five to ten times slower.
 */
export interface Stress2 {
  /**
   * knobs of each turn; every workload runs once per turn
   */
  turns: {
    [k: string]: number;
  }[];
  /**
   * script of duet/trials/check/stress that runs in parallel
   */
  beside: string | null;
  /**
   * workloads that run while nothing else reclaims memory
   */
  alone: string[];
  work: {
    [k: string]: string;
  };
}

export type PluginWire = Extract<ServerWire, { type: 'class' | 'class_answered' | 'class_confusion' | 'class_opened' | 'class_own' | 'class_place' | 'class_question' | 'class_raised' | 'class_roster' | 'class_seen' | 'class_tally' | 'class_timer' | 'class_tries' | 'class_watched' | 'class_watching' | 'class_welcome' }>;
