/** Operations of a key holder. */
export const operations = [
  'authenticate',
  'permit and limit',
  'meter',
  'all of it',
  'all of it, 64 used',
  'map and bucket',
  'signed token',
] as const;
export type Operation = (typeof operations)[number];

export type HolderOrder = Readonly<{ operation: Operation; seconds: number }> | Readonly<{ serve: true }>;
export type HolderMessage =
  | Readonly<{ ready: Readonly<{ bytesPerKey: number; buildSeconds: number }> }>
  | Readonly<{ nanoseconds: number }>
  | Readonly<{ listening: Readonly<{ port: number; keys: readonly string[] }> }>;

export type LoaderOrder = Readonly<{ port: number; keys: readonly string[]; seconds: number }>;
export type LoaderMessage = Readonly<{ requests: number }>;
