import { hkdfSync } from 'node:crypto';
import type { Peppers } from '../pepper.ts';

const PURPOSE = 'solway sign-in v1';

/**
 * The secrets with which cookies are signed and second factors encrypted, one for each pepper and none of them the
 * pepper; the current one first. They are not stored.
 */
export function signInSecrets({ current, secrets }: Peppers): { version: number; value: string }[] {
  return [...secrets]
    .sort(([a], [b]) => Number(b === current) - Number(a === current))
    .map(([version, pepper]) => ({
      version,
      value: Buffer.from(hkdfSync('sha256', pepper, Buffer.alloc(0), PURPOSE, 32)).toString('base64url'),
    }));
}
