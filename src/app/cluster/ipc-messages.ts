import { z } from 'zod';
import type { Configuration } from '../../config/configuration.ts';
import { isTable } from '../../config/table.ts';
import { type LimitCommand, limitCommandNames } from '../../control/shared/limit-store.ts';

/** Requests between the primary and its workers. Messages are validated, even though all processes run this program. */

type IpcMethod = Readonly<{ request: z.ZodType; response: z.ZodType }>;
export type IpcMethods = Readonly<Record<string, IpcMethod>>;

const empty = z.null();
const port = z.int().min(0).max(65_535);
const strings = z.array(z.string()).readonly();

const isLimitCommand = (value: unknown): value is LimitCommand =>
  isTable(value) &&
  limitCommandNames.some((name) => name === value.name) &&
  Array.isArray(value.keys) &&
  value.keys.every((key) => typeof key === 'string') &&
  Array.isArray(value.values) &&
  value.values.every((one) => typeof one === 'string' || typeof one === 'number');

/** Uses a custom check, because a Zod schema would copy thousands of values ten times a second. */
const limitCommands = z.custom<readonly LimitCommand[]>(
  (value) => Array.isArray(value) && value.every(isLimitCommand),
);

const configuration = z.custom<Configuration>((value) => isTable(value) && isTable(value.server));

const problems = z.array(z.object({ source: z.string(), field: z.string(), message: z.string() })).readonly();

const settingsSchema = z.object({
  worker: z.int().min(1),
  workers: z.int().min(1),
  /** Number of processes that call nodes: the workers, and the primary if it has a shred stage. */
  upstreamClients: z.int().min(1),
  configuration,
  ledger: z.object({ rpcPort: port, pubsubPort: port, geyserPort: port.nullable() }).nullable(),
  shreds: z.object({ url: z.string(), token: z.string() }).nullable(),
});

export type WorkerSettings = z.output<typeof settingsSchema>;

const workerAddress = z.object({
  url: z.string(),
  grpcUrl: z.string().nullable(),
  hasShredStage: z.boolean(),
  isDevelopment: z.boolean(),
  nodes: z.array(z.object({ network: z.string(), name: z.string(), hasResponded: z.boolean() })).readonly(),
});

export type WorkerAddress = z.output<typeof workerAddress>;

const reloadResult = z.union([z.object({ changed: strings, restart: strings }), z.object({ problems })]);

const reloadedBy = z.object({
  actor: z.string(),
  address: z.string().nullable(),
  userAgent: z.string().nullable(),
  requestId: z.string().nullable(),
});

/** Requests from workers to the primary. */
export const primaryMethods = {
  getSettings: { request: empty, response: settingsSchema },
  ready: { request: workerAddress, response: empty },
  failed: { request: z.object({ problem: z.string() }), response: empty },
  limits: { request: limitCommands, response: z.array(z.unknown()) },
  joinedMetrics: { request: empty, response: z.string() },
  /** Reserves storage for a file; responds false if that would exceed the quota. */
  reserveStorage: { request: z.object({ cid: z.string(), bytes: z.int().min(0) }), response: z.boolean() },
  settleStorage: { request: z.object({ cid: z.string(), isStored: z.boolean() }), response: empty },
  reload: { request: reloadedBy, response: reloadResult },
} as const satisfies IpcMethods;

/** Requests from the primary to workers. */
export const workerMethods = {
  refresh: { request: empty, response: empty },
  /** Responds with the metrics of this worker. */
  workerMetrics: { request: empty, response: z.string() },
  check: {
    request: z.object({ configuration, restart: strings }),
    response: z.object({ problems }),
  },
  apply: { request: z.object({ configuration }), response: empty },
  /**
   * Makes a worker drain and exit. Not sent as a signal: on Ctrl+C, the terminal signals the whole process group, and a
   * second signal would stop the worker without draining.
   */
  stop: { request: empty, response: empty },
} as const satisfies IpcMethods;

export type RequestOf<Kinds extends IpcMethods, Kind extends keyof Kinds> = z.output<Kinds[Kind]['request']>;
export type ResponseOf<Kinds extends IpcMethods, Kind extends keyof Kinds> = z.output<
  Kinds[Kind]['response']
>;

/** Handlers for all requests. If a handler throws, the other process receives the error text. */
export type IpcHandlers<Kinds extends IpcMethods> = {
  readonly [Kind in keyof Kinds]: (
    request: RequestOf<Kinds, Kind>,
  ) => ResponseOf<Kinds, Kind> | Promise<ResponseOf<Kinds, Kind>>;
};
