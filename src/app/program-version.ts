import { readFileSync } from 'node:fs';

/** Version of package.json, two folders up from both src/app and dist/app. */
export const PROGRAM_VERSION: string = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
).version;
