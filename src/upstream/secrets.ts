/** Shorter parts of URLs and headers are assumed to be words like `rpc`, not secrets. */
const SECRET_LENGTH_MIN = 8;
const LOOPBACK = /^(?:localhost|127\.[\d.]+|\[::1\])$/;
/** Maximum number of escape levels removed, for example from JSON within a JSON string. */
const ESCAPES_MAX = 3;

/** Strings that must not reach a client: the host, unless it is loopback, and every part that may be a key. */
export function secretsOf(url: URL, headers: Readonly<Record<string, string>>): Buffer[] {
  const pieces = [...url.pathname.split('/'), ...url.searchParams.values(), url.username, url.password];
  // In `Bearer TOKEN`, only the token is the secret.
  const values = Object.values(headers).flatMap((value) => value.split(' '));
  const long = [...pieces, ...values].filter((piece) => piece.length >= SECRET_LENGTH_MIN);
  const host = LOOPBACK.test(url.hostname) ? [] : [url.hostname];
  return [...host, ...long].map((piece) => Buffer.from(piece));
}

const character = (hex: string): string => String.fromCharCode(Number.parseInt(hex, 16));

/** Removes one level of escapes. */
const unescaped = (text: string): string =>
  text
    .replace(/\\(?:u([0-9a-f]{4})|(.))/gi, (_, hex?: string, plain = '') =>
      hex === undefined ? plain : character(hex),
    )
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => character(hex));

/** Whether the bytes contain a secret, plain or escaped. */
export function revealsOneOf(secrets: readonly Buffer[], bytes: Buffer): boolean {
  if (secrets.some((secret) => bytes.includes(secret))) return true;
  const sought = secrets.flatMap((secret) => {
    const text = secret.toString('utf8').toLowerCase();
    const plain = unescaped(text);
    return plain.length < SECRET_LENGTH_MIN ? [text] : [text, plain];
  });
  let text = bytes.toString('utf8');
  for (let level = 0; level <= ESCAPES_MAX; level++) {
    const lower = text.toLowerCase();
    if (sought.some((secret) => lower.includes(secret))) return true;
    const next = unescaped(text);
    if (next === text) return false;
    text = next;
  }
  return false;
}
