const ID_LENGTH = 8;
const KEY_PATTERN = /^(svc_(?:rpc|grpc|fs)_live_)([1-9A-HJ-NP-Za-km-z]{46})$/;

/** The id of an API key; null if the text is none. */
export const keyIdOf = (secret: string): string | null =>
  KEY_PATTERN.exec(secret)?.[2]?.slice(0, ID_LENGTH) ?? null;
