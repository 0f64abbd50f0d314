import type { IncomingMessage } from 'node:http';
import type { FailureCode } from '../../protocol/errors.ts';

/** Host and optional port; may be empty. Source: RFC 9112 §3.2, RFC 3986 §3.2.2. */
const HOST = /^(?:[A-Za-z0-9._~!$&'()*+,;=%-]{0,255}|\[[0-9A-Za-z:.%~_-]{2,64}\])(?::\d{0,5})?$/;

/**
 * Checks a parsed head for what an intermediary may interpret differently (request smuggling), and for compressed
 * bodies, which are not supported. @returns null for a valid head.
 */
export function faultOfHead(request: IncomingMessage): FailureCode | null {
  const { headers, httpVersionMajor } = request;
  // The parser accepts HTTP/0.9, which has no headers, and 2.0.
  if (httpVersionMajor !== 1 || !hasValidHost(request) || !hasValidTransferCoding(request))
    return 'MALFORMED_HTTP';
  const content = headers['content-encoding'];
  if (content !== undefined && content.toLowerCase() !== 'identity') return 'ENCODED_BODY';
  return null;
}

/** Only `chunked`, and only in HTTP/1.1: proxies disagree on everything else. Source: RFC 9112 §6.1. */
function hasValidTransferCoding({ headers, httpVersionMinor }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding'];
  return coding === undefined || (coding.toLowerCase() === 'chunked' && httpVersionMinor > 0);
}

export const isValidHost = (host: string): boolean => HOST.test(host);

/** Exactly one valid Host; HTTP/1.0 may omit it. Source: RFC 9112 §3.2. */
function hasValidHost({ rawHeaders, httpVersionMinor }: IncomingMessage): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue;
    hosts++;
    if (!isValidHost(rawHeaders[i + 1] as string)) return false;
  }
  return hosts === 1 || (hosts === 0 && httpVersionMinor === 0);
}
