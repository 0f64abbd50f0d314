import { redact } from '../../base/log.ts';

/** Substrings of JSON member names whose values are secrets. */
const SECRET_PARTS = [
  'secret|passw|pwd|passphrase|passcode|credential|mnemonic|keypair|authorization|bearer|cookie',
  '(?:api|private|signing|access)[_-]?key|seed[_-]?phrase',
].join('|');
/** Matches `token` only at the end, because tokenAccount, token_program and tokenAmount are not secrets. */
const SECRET_NAME = new RegExp(`${SECRET_PARTS}|token$|^(?:seed|pass)$`, 'i');
/**
 * A string, followed by a colon if it is a member name. The closing quote may also open the next string, because a
 * quote may be missing. A truncated string extends to the end of the text, so that no part is scanned twice.
 */
const TEXT = /"((?:[^"\\]|\\[\s\S])*)(?:(?="(\s*:\s*)?)|\\?$)/g;
/** A string, array or number, up to its end or the end of the truncated text. */
const VALUE = /"(?:[^"\\]|\\[\s\S])*\\?"?|\[(?:[^\]"]|"(?:[^"\\]|\\[\s\S])*\\?"?)*\]?|-?\d[\d.eE+-]*/y;
const ESCAPED = /\\u([0-9a-f]{4})/gi;
const BEARER = /\b(bearer|basic)\s+[\w.~+/=-]+/gi;
const CONTROLS = /\p{Cc}/gu;

export const withoutSecrets = (text: string): string =>
  redactMembers(redact(text)).replace(BEARER, '$1 [redacted]').replace(CONTROLS, ' ');

function redactMembers(text: string): string {
  let [redacted, from] = ['', 0];
  for (const { 0: head, 1: name = '', 2: colon, index } of text.matchAll(TEXT)) {
    if (colon === undefined || !isSecret(name)) continue;
    const at = index + head.length + 1 + colon.length;
    if (at < from) continue;
    VALUE.lastIndex = at;
    if (!VALUE.test(text)) continue;
    redacted += `${text.slice(from, at)}"[redacted]"`;
    from = VALUE.lastIndex;
  }
  return redacted + text.slice(from);
}

const isSecret = (name: string): boolean =>
  SECRET_NAME.test(
    name.replace(ESCAPED, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))),
  );

/** Truncates and redacts text chosen by the client. */
export const redactText = (text: string, max: number): string =>
  withoutSecrets(text.slice(0, max).toWellFormed());

/** Returns the redacted start of a body for the log. Drops a character that was split by the truncation. */
export function redactBody(body: Uint8Array, maxBytes: number): string {
  const start = Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, maxBytes)).toString(
    'utf8',
  );
  const complete = body.byteLength > maxBytes ? start.replace(/\uFFFD+$/, '') : start;
  return withoutSecrets(complete);
}
