import type { Behaviour } from './server.ts';

/** Reads the request and never responds. */
export const silent: Behaviour = () => {};
