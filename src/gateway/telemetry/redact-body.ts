import { redact } from '../../base/log.ts';

/** Parts of names of members whose values are secrets, whatever stands around them. */
const SECRET_PARTS = [
  'secret|passw|pwd|passphrase|passcode|credential|mnemonic|keypair|authorization|bearer|cookie',
  '(?:api|private|signing|access)[_-]?key|seed[_-]?phrase',
].join('|');
/** `token` at its end only: tokenAccount, token_program and tokenAmount are what this service is asked about. */
const SECRET_NAME = new RegExp(`${SECRET_PARTS}|token$|^(?:seed|pass)$`, 'i');
/**
 * A text, with the colon of a name behind it or without. The quote that ends it may begin the next one, as where one is
 * missing or too many. A text that is cut goes to the end, so that none is read twice.
 */
const TEXT = /"((?:[^"\\]|\\[\s\S])*)(?:(?="(\s*:\s*)?)|\\?$)/g;
/** Texts, lists and numbers, to where they end or are cut. */
const VALUE = /"(?:[^"\\]|\\[\s\S])*\\?"?|\[(?:[^\]"]|"(?:[^"\\]|\\[\s\S])*\\?"?)*\]?|-?\d[\d.eE+-]*/y;
const ESCAPED = /\\u([0-9a-f]{4})/gi;
const BEARER = /\b(bearer|basic)\s+[\w.~+/=-]+/gi;
const CONTROLS = /\p{Cc}/gu;

/** The text without what looks like a credential, and without control characters. */
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

/** Text that a client chose, for the log: short, and without secrets. */
export const redactText = (text: string, max: number): string => withoutSecrets(text.slice(0, max));

/**
 * The start of a body as the log keeps it: without what looks like a credential. A character that the cut went through is
 * left out.
 */
export function redactBody(body: Uint8Array, maxBytes: number): string {
  const start = Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, maxBytes)).toString(
    'utf8',
  );
  const complete = body.byteLength > maxBytes ? start.replace(/\uFFFD+$/, '') : start;
  return withoutSecrets(complete);
}
