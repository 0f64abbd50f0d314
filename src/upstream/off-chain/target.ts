import type { OffChainLimits, OffChainRules } from './limits.ts';

export type Target =
  | Readonly<{ kind: 'inline'; bytes: Buffer }>
  /** The URLs are tried in order until one has the document. */
  | Readonly<{ kind: 'remote'; urls: readonly URL[] }>;

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
const IPFS = /^ipfs:\/\/(?:ipfs\/)?([A-Za-z0-9]{32,128})((?:\/[^?#\\]*)?)$/i;
const ARWEAVE = /^ar:\/\/([A-Za-z0-9_-]{43})((?:\/[^?#\\]*)?)$/i;
const DATA = /^data:application\/json(?:;(?:charset=)?utf-?8)?(;base64)?,/i;
const DATA_HEAD_MAX = 64;
/** A percent-encoded byte takes three characters. */
const CHARACTERS_PER_BYTE = 3;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
/** Percent-encoded `.`, `/`, `\` and `%`. */
const ENCODED = /%(?:2[ef5]|5c)/gi;
/** Maximum levels of nested percent-encoding in a path. */
const ENCODINGS_MAX = 4;

/** null unless the URL is http(s) without credentials on an allowed port. The address is checked when connecting. */
export function webUrl(text: string, ports: readonly number[], base?: URL): URL | null {
  const url = URL.parse(text, base?.href);
  const defaultPort = DEFAULT_PORTS[url?.protocol ?? ''];
  if (url === null || defaultPort === undefined || url.hostname === '') return null;
  if (url.username !== '' || url.password !== '') return null;
  if (!ports.includes(url.port === '' ? defaultPort : Number(url.port))) return null;
  url.hash = '';
  return url;
}

/** Whether the path contains `..` at any level of percent-encoding, or has too many levels. */
function hasPathTraversal(path: string): boolean {
  let text = path;
  for (let times = 0; times <= ENCODINGS_MAX; times++) {
    if (text.split(/[\\/]/).includes('..')) return true;
    const decoded = text.replace(ENCODED, decodeURIComponent);
    if (decoded === text) return false;
    text = decoded;
  }
  return true;
}

/** One URL per gateway, omitted if a `..` in the path would lead outside the content with this id. */
function atGateways(gateways: readonly string[], [, id = '', path = '']: RegExpExecArray): Target | null {
  const urls = gateways.flatMap((gateway) => {
    const url = URL.parse(gateway + id + path);
    const below = URL.parse(gateway + id)?.pathname;
    const inside = below !== undefined && (url?.pathname === below || url?.pathname.startsWith(`${below}/`));
    return url !== null && inside && !hasPathTraversal(url.pathname.slice(below.length)) ? [url] : [];
  });
  return urls.length === 0 ? null : { kind: 'remote', urls };
}

function percentDecoded(text: string): Buffer {
  try {
    return Buffer.from(decodeURIComponent(text));
  } catch {
    // Unescaped JSON may contain a lone `%`.
    return Buffer.from(text);
  }
}

function inlineTarget(uri: string, documentMaxBytes: number): Target | null {
  const head = DATA.exec(uri.slice(0, DATA_HEAD_MAX));
  if (head === null || uri.length > documentMaxBytes * CHARACTERS_PER_BYTE + DATA_HEAD_MAX) return null;
  const text = uri.slice(head[0].length);
  if (head[1] !== undefined && !BASE64.test(text)) return null;
  const bytes = head[1] === undefined ? percentDecoded(text) : Buffer.from(text, 'base64');
  return { kind: 'inline', bytes };
}

/** @returns null if the URI is invalid or not allowed. Never throws. */
export function targetOf(uri: string, rules: OffChainRules, limits: OffChainLimits): Target | null {
  if (/^data:/i.test(uri)) return inlineTarget(uri, limits.documentMaxBytes);
  if (uri.length > limits.uriMaxLength) return null;
  const text = uri.trim();
  const ipfs = IPFS.exec(text);
  if (ipfs !== null) return atGateways(rules.ipfsGateways, ipfs);
  const arweave = ARWEAVE.exec(text);
  if (arweave !== null) return atGateways(rules.arweaveGateways, arweave);
  const url = webUrl(text, rules.ports);
  return url === null ? null : { kind: 'remote', urls: [url] };
}
