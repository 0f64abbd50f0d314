import { redact } from '../base/log.ts';

const NAMES = [
  '(?:x-)?api-?key|api_key',
  'x-token|access_token|refresh_token',
  'authorization|bearer',
  'password|current_password|new_password|passphrase',
  'secret|secret_?key|private_?key|keypair|mnemonic|seed',
].join('|');
const JSON_SECRET = new RegExp(`("(?:${NAMES})"\\s*:\\s*)("(?:[^"\\\\]|\\\\.)*"?|\\[[^\\]]*\\]?)`, 'gi');
const BEARER = /\b(bearer|basic)\s+[\w.~+/=-]+/gi;
const CONTROLS = /\p{Cc}/gu;

/** The text without what looks like a credential, and without control characters. */
export const withoutSecrets = (text: string): string =>
  redact(text).replace(JSON_SECRET, '$1"[redacted]"').replace(BEARER, '$1 [redacted]').replace(CONTROLS, ' ');

/** Text that a client chose, for the log: short, and without secrets. */
export const shownText = (text: string, max: number): string => withoutSecrets(text.slice(0, max));

/**
 * The start of a body as the log keeps it: without what looks like a credential. A character that the cut went through is
 * left out.
 */
export function shownBody(body: Uint8Array, maxBytes: number): string {
  const start = Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, maxBytes)).toString(
    'utf8',
  );
  const whole = body.byteLength > maxBytes ? start.replace(/\uFFFD+$/, '') : start;
  return withoutSecrets(whole);
}
