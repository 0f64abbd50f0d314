import { z } from 'zod';
import type { ExchangeStep, StepName } from '../../control/shared/limit-exchange.ts';
import type { Configuration } from '../configuration.ts';
import { isSection } from '../live-configuration.ts';

/**
 * What a primary and its workers ask of each other, with what belongs to the question and to the answer. Both are this
 * very program; what comes is looked at all the same, so that nothing is taken for what it is not.
 */

/** What belongs to a question, and to its answer. */
export type QuestionKind = Readonly<{ asked: z.ZodType; answered: z.ZodType }>;
export type QuestionKinds = Readonly<Record<string, QuestionKind>>;

const nothing = z.null();
const port = z.int().min(0).max(65_535);
const words = z.array(z.string());

const stepNames: Readonly<Record<StepName, true>> = {
  ...{ presence: true, leave: true, clock: true, rates: true, windows: true, places: true, quotas: true },
  floors: true,
};

const isStep = (value: unknown): value is ExchangeStep =>
  isSection(value) &&
  Object.hasOwn(stepNames, String(value.name)) &&
  Array.isArray(value.keys) &&
  value.keys.every((key) => typeof key === 'string') &&
  Array.isArray(value.values) &&
  value.values.every((one) => typeof one === 'string' || typeof one === 'number');

/** Ten times a second, and thousands of values: looked at without making them anew. */
const steps = z.custom<readonly ExchangeStep[]>((value) => Array.isArray(value) && value.every(isStep));

const configuration = z.custom<Configuration>((value) => isSection(value) && isSection(value.server));

const problem = z.object({ source: z.string(), field: z.string(), message: z.string() });

const seat = z.object({
  worker: z.int().min(1),
  workers: z.int().min(1),
  /** Processes that ask nodes: the workers, and the primary where it has something to ask. */
  askers: z.int().min(1),
  configuration,
  ledger: z.object({ rpcPort: port, pubsubPort: port, grpcPort: port.nullable() }).nullable(),
  shreds: z.object({ url: z.string(), token: z.string() }).nullable(),
});

/** What a worker is told of its place. */
export type GivenSeat = z.output<typeof seat>;

const reached = z.object({
  url: z.string(),
  grpcUrl: z.string().nullable(),
  hasShredStage: z.boolean(),
  isDevelopment: z.boolean(),
  nodes: z.array(z.object({ network: z.string(), name: z.string(), hasAnswered: z.boolean() })),
});

/** Where a worker is reached. */
export type Reached = z.output<typeof reached>;

const reloaded = z.union([
  z.object({ changed: words, restart: words }),
  z.object({ problems: z.array(problem) }),
]);

const by = z.object({
  actor: z.string(),
  address: z.string().nullable(),
  userAgent: z.string().nullable(),
  requestId: z.string().nullable(),
});

/** What workers ask of the primary. */
export const askedOfPrimary = {
  /** The first question of a worker: how it is to run. */
  seat: { asked: nothing, answered: seat },
  /** Its doors are open. */
  ready: { asked: reached, answered: nothing },
  /** It could not start. */
  failed: { asked: z.object({ problem: z.string() }), answered: nothing },
  /** One exchange of limits. */
  limits: { asked: steps, answered: z.array(z.unknown()) },
  /** The page of metrics of all workers. */
  metrics: { asked: nothing, answered: z.string() },
  /** Room for a file that is to be kept; false: there is none. */
  room: { asked: z.object({ cid: z.string(), bytes: z.int().min(0) }), answered: z.boolean() },
  /** What became of it. */
  settled: { asked: z.object({ cid: z.string(), isKept: z.boolean() }), answered: nothing },
  /** Somebody wants the configuration to be read again. */
  reload: { asked: by, answered: reloaded },
} as const satisfies QuestionKinds;

/** What the primary asks of workers. */
export const askedOfWorkers = {
  /** Looks for changes of keys, now. */
  refresh: { asked: nothing, answered: nothing },
  /** Its own page of metrics. */
  page: { asked: nothing, answered: z.string() },
  /** What speaks against a configuration that is to be in force. */
  check: {
    asked: z.object({ configuration, restart: words }),
    answered: z.object({ problems: z.array(problem) }),
  },
  /** Puts it into force. */
  apply: { asked: z.object({ configuration }), answered: nothing },
  /**
   * Drains and ends. Not by a signal: it would be the second of whoever tells all processes at once, as a terminal does,
   * and a second one ends a process without any draining.
   */
  stop: { asked: nothing, answered: nothing },
} as const satisfies QuestionKinds;

/** What is asked, and what is answered, by kind. */
export type AskedOf<Kinds extends QuestionKinds, Kind extends keyof Kinds> = z.output<Kinds[Kind]['asked']>;
export type AnswerOf<Kinds extends QuestionKinds, Kind extends keyof Kinds> = z.output<
  Kinds[Kind]['answered']
>;

/** Whoever answers all kinds. What it throws is told to who asked, in words. */
export type Answerer<Kinds extends QuestionKinds> = {
  readonly [Kind in keyof Kinds]: (
    asked: AskedOf<Kinds, Kind>,
  ) => AnswerOf<Kinds, Kind> | Promise<AnswerOf<Kinds, Kind>>;
};
