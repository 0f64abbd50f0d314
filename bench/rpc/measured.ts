import type { OpenLoopWord } from './open-loop-messages.ts';
import type { FullLoad } from './phases.ts';

/** What is compared, by name: servers that do the same. */
export const SOLWAY = 'solway';
export const NGINX = 'nginx';
export const HAPROXY = 'haproxy';
/** Asked directly, for what the others add to it. */
export const NODE = 'node';
/** Reported apart: they do what the others do not. */
export const PIPELINED = 'solway, 4 requests under way on a connection to the node';
export const CACHED = 'solway, keeping and sharing answers as by default, no call twice';
/** Reported apart: it does less than the others. */
export const UNREAD = 'node:net alone, bytes passed on unread';

/** Long answers alone, reported apart: what does not fit into its few small buffers goes over a file. */
export const NGINX_UNTUNED = 'nginx, with the buffers it has by itself';

/** By the names of servers. */
export type ByServer<Value> = Readonly<Record<string, Value>>;

/** What one round measured. Not every server takes part in everything. */
export type Round = Readonly<{
  /** As many short answers as it can give. */
  short: ByServer<FullLoad>;
  /** As many answers of 1 MiB. */
  long: ByServer<FullLoad>;
  /** At a fixed rate. */
  latency: ByServer<OpenLoopWord>;
}>;

/** Resident memory once all was warm and when all was over. */
export type Memory = Readonly<{ startMib: number; endMib: number }>;

/** How it was measured. */
export type Setup = Readonly<{
  seconds: number;
  connections: number;
  /** Connections that ask for long answers. */
  longConnections: number;
  /** Requests a second at which latency is measured. */
  rate: number;
  /** Whether each side had a processor of its own. */
  bound: boolean;
  versions: Readonly<Record<string, string>>;
  /** What is not installed, and how it would be. */
  missing: ByServer<string>;
}>;
