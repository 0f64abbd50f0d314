import { readFileSync } from 'node:fs';

/** The version of package.json, which lies two folders up from src/cli and dist/cli alike. */
export const PROGRAM_VERSION: string = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
).version;
