import type { OpenLoopWord } from './open-loop-messages.ts';
import type { FullLoad } from './phases.ts';

/** Names of the compared servers. */
export const SOLWAY = 'solway';
export const NGINX = 'nginx';
export const HAPROXY = 'haproxy';
/** Called directly, as the baseline of latency. */
export const NODE = 'node';
/** Reported separately: they do more than the others. */
export const PIPELINED = 'solway, pipelining of 4 requests to the node';
export const CACHED = 'solway, with default caching and coalescing, distinct calls';
/** Reported separately: it does less than the others. */
export const UNREAD = 'node:net alone, bytes forwarded unread';

/** Only long responses: beyond its default buffers nginx uses a file. */
export const NGINX_UNTUNED = 'nginx, with default buffers';

/** Values by server name. */
export type ByServer<Value> = Readonly<Record<string, Value>>;

/** Measurements of a round; some servers take part in some only. */
export type Round = Readonly<{
  /** Maximum throughput of short responses. */
  short: ByServer<FullLoad>;
  /** Maximum throughput of 1 MiB responses. */
  long: ByServer<FullLoad>;
  /** Latency at a fixed rate. */
  latency: ByServer<OpenLoopWord>;
}>;

/** Resident memory after the warm-up and at the end. */
export type Memory = Readonly<{ startMib: number; endMib: number }>;

export type Setup = Readonly<{
  seconds: number;
  connections: number;
  /** Connections for long responses. */
  longConnections: number;
  /** Requests per second of the latency measurement. */
  rate: number;
  /** Whether each side had its own CPU. */
  bound: boolean;
  versions: Readonly<Record<string, string>>;
  /** Missing programs and how to install them. */
  missing: ByServer<string>;
}>;
