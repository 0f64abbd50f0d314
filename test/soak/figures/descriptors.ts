import { readdirSync } from 'node:fs';

/** Open files and sockets of a process. Linux only. @throws when it does not run. */
export const descriptorsOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;
