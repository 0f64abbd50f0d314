import type { OffChainLimits, OffChainRules } from './limits.ts';

/** Where the JSON of a URI is. */
export type Target =
  | Readonly<{ kind: 'inline'; bytes: Buffer }>
  /** Web addresses, to be asked one after the other until one has it. */
  | Readonly<{ kind: 'remote'; urls: readonly [URL, ...URL[]] }>;

/** How long an address, or the document inside of one, may be. */
export type TargetLimits = Pick<OffChainLimits, 'uriMaxLength' | 'documentMaxBytes'>;

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
const IPFS = /^ipfs:\/\/(?:ipfs\/)?([A-Za-z0-9]{32,128})((?:\/[^?#\\]*)?)$/i;
const ARWEAVE = /^ar:\/\/([A-Za-z0-9_-]{43})((?:\/[^?#\\]*)?)$/i;
const DATA = /^data:application\/json(?:;(?:charset=)?utf-?8)?(;base64)?,/i;
const DATA_HEAD_MAX = 64;
/** A byte that is percent-encoded takes three characters. */
const CHARACTERS_PER_BYTE = 3;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
/** `.`, `/`, `\\` and `%`, percent-encoded. */
const ENCODED = /%(?:2[ef5]|5c)/gi;
/** How often a path may be encoded over again. Names of files are not, even once. */
const ENCODINGS_MAX = 4;

/**
 * A web address that may be asked, if the host's IP address may be connected to.
 * @param base - what a relative one stands against.
 * @returns null for other schemes, for user and password, and for a port that is not allowed.
 */
export function webUrl(text: string, ports: readonly number[], base?: URL): URL | null {
  const url = URL.parse(text, base?.href);
  const defaultPort = DEFAULT_PORTS[url?.protocol ?? ''];
  if (url === null || defaultPort === undefined || url.hostname === '') return null;
  if (url.username !== '' || url.password !== '') return null;
  if (!ports.includes(url.port === '' ? defaultPort : Number(url.port))) return null;
  url.hash = '';
  return url;
}

/** Whether whoever decodes this path, however often, comes to a `..` in it; so does a path that is never done. */
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

/** The file behind each gateway. A path with `..` must not lead to anything else of the gateway. */
function atGateways(gateways: readonly string[], [, id = '', path = '']: RegExpExecArray): Target | null {
  const urls = gateways.flatMap((gateway) => {
    const url = URL.parse(gateway + id + path);
    const below = URL.parse(gateway + id)?.pathname;
    const inside = below !== undefined && (url?.pathname === below || url?.pathname.startsWith(`${below}/`));
    return url !== null && inside && !hasPathTraversal(url.pathname.slice(below.length)) ? [url] : [];
  });
  const [first, ...others] = urls;
  return first === undefined ? null : { kind: 'remote', urls: [first, ...others] };
}

function percentDecoded(text: string): Buffer | null {
  try {
    return Buffer.from(decodeURIComponent(text));
  } catch {
    // JSON that was put in as it is may have a lone `%`.
    return Buffer.from(text);
  }
}

function inlineTarget(uri: string, documentMaxBytes: number): Target | null {
  const head = DATA.exec(uri.slice(0, DATA_HEAD_MAX));
  if (head === null || uri.length > documentMaxBytes * CHARACTERS_PER_BYTE + DATA_HEAD_MAX) return null;
  const text = uri.slice(head[0].length);
  if (head[1] !== undefined && !BASE64.test(text)) return null;
  const bytes = head[1] === undefined ? percentDecoded(text) : Buffer.from(text, 'base64');
  return bytes === null ? null : { kind: 'inline', bytes };
}

/** Where the JSON of a URI is; null when nobody is to be asked for it. Never throws. */
export function targetOf(uri: string, rules: OffChainRules, limits: TargetLimits): Target | null {
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
