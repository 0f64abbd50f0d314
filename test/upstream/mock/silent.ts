import type { Behaviour } from './server.ts';

/** Reads the request and never answers. */
export const silent: Behaviour = () => {};
