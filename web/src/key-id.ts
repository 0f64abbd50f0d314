import { useDebounced } from './pager.ts';

const ID_LENGTH = 8;
const KEY_PATTERN = /^(svc_(?:rpc|grpc|fs)_live_)([1-9A-HJ-NP-Za-km-z]{46})$/;

/** The id of an API key; null if the text is none. */
const keyIdOf = (secret: string): string | null => KEY_PATTERN.exec(secret)?.[2]?.slice(0, ID_LENGTH) ?? null;

const SEARCH_LENGTH_MAX = 64;

/** The typed text as a search for API keys, without a key's secret, which must not get into a URL. */
export const useKeySearch = (text: string): string =>
  useDebounced((keyIdOf(text.trim()) ?? text.trim()).slice(0, SEARCH_LENGTH_MAX));
