import type { OpenLoopWord } from './open-loop-messages.ts';
import type { FullLoad } from './phases.ts';

/** Names of the compared servers. */
export const SOLWAY = 'solway';
export const NGINX = 'nginx';
export const HAPROXY = 'haproxy';
export const ERPC = 'erpc';
/** Does the same work as the gateway: the yardstick. */
export const NGINX_LUA = 'nginx+lua';
/** Called directly, as the baseline of latency. */
export const NODE = 'node';
/** Reported separately: they do more, or differently. */
export const UNSHARED = 'solway, one request per connection to the node';
export const CACHED = 'solway, default configuration, distinct calls';
/** The same server and configuration under other loads. */
export const HALF_REPEATED = 'solway, default configuration, 50 % repeats';
export const MOSTLY_REPEATED = 'solway, default configuration, 95 % repeats';
/** A peer under the last of these loads. */
export const ERPC_CACHED = 'erpc with its cache, 95 % repeats';
/** Reported separately: it does less than the others. */
export const UNREAD = 'node:net alone, bytes forwarded unread';

/** Only long responses: beyond its default buffers nginx uses a file. */
export const NGINX_UNTUNED = 'nginx, with default buffers';

/** What each server does for a call. */
export const work: Readonly<Record<string, string>> = {
  [SOLWAY]:
    'key, JSON checked in full, allowed methods, rate, quota, counters per key and method, latency histogram, sampled log, node health, retries',
  [NGINX]: 'key; the body is not read',
  [NGINX_LUA]:
    'key, JSON decoded, allowed methods, rate, quota, counters per key and method, latency histogram; no log, health or retries',
  [HAPROXY]: 'key; the body is not read',
  [ERPC]:
    'key from its cache, JSON, allowed methods, rate and quota of a user that all keys share, counters per method and node, node health, retries; a Solana network, so that Solana methods pass',
  [ERPC_CACHED]: 'as erpc, and caching for one slot, and coalescing',
  [CACHED]: 'as solway, and caching, coalescing and slot cache',
  [UNREAD]: 'nothing: the floor of Node.js sockets',
};

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
