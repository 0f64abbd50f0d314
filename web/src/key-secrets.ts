/** API keys seen in full since page load. In memory only: never in storage or a URL. */
const secrets = new Map<string, string>();

const ID_LENGTH = 8;
const KEY_PATTERN = /^(svc_(?:rpc|grpc|fs)_live_)([1-9A-HJ-NP-Za-km-z]{46})$/;

export const keyIdOf = (secret: string): string | null =>
  KEY_PATTERN.exec(secret)?.[2]?.slice(0, ID_LENGTH) ?? null;

export function rememberKey(secret: string): void {
  const id = keyIdOf(secret);
  if (id !== null) secrets.set(id, secret);
}

export const secretOf = (id: string): string | null => secrets.get(id) ?? null;
export const forgetKeys = (): void => secrets.clear();
