/**
 * Keys that this page has seen in full since it was loaded: those that were made in it, and those that were pasted
 * into the playground. They are nowhere else: not in storage, not in a URL, and gone with the page.
 */
const secrets = new Map<string, string>();

const ID_LENGTH = 8;
const KEY_PATTERN = /^(svc_(?:rpc|grpc|fs)_live_)([1-9A-HJ-NP-Za-km-z]{46})$/;

/** The public part of a key; null: the text is none. */
export const keyIdOf = (secret: string): string | null =>
  KEY_PATTERN.exec(secret)?.[2]?.slice(0, ID_LENGTH) ?? null;

export function rememberKey(secret: string): void {
  const id = keyIdOf(secret);
  if (id !== null) secrets.set(id, secret);
}

export const secretOf = (id: string): string | null => secrets.get(id) ?? null;
export const forgetKeys = (): void => secrets.clear();
