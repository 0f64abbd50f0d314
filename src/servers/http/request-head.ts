import type { IncomingMessage } from 'node:http';
import type { FailureCode } from '../../protocol/errors.ts';

/** A name or address and a port, as they stand in URLs; empty for a target without. Source: RFC 9112 §3.2, RFC 3986 §3.2.2. */
const HOST = /^(?:[A-Za-z0-9._~!$&'()*+,;=%-]{0,255}|\[[0-9A-Za-z:.%~_-]{2,64}\])(?::\d{0,5})?$/;

/**
 * What is wrong with a head that the parser let pass: what others on the way may understand otherwise than we do, and
 * bodies that are packed, since nothing is unpacked here. null when nothing is.
 */
export function faultOfHead(request: IncomingMessage): FailureCode | null {
  const { headers, httpVersionMajor } = request;
  // The parser takes 0.9, which has no headers, and 2.0, which nobody speaks so.
  if (httpVersionMajor !== 1 || !hasValidHost(request) || !hasValidTransferCoding(request))
    return 'MALFORMED_HTTP';
  const content = headers['content-encoding'];
  if (content !== undefined && content.toLowerCase() !== 'identity') return 'ENCODED_BODY';
  return null;
}

/**
 * Chunks and nothing else, and not in HTTP/1.0, which does not know them: others are coded twice, or in a way that who
 * stands in front of us may not know. Source: RFC 9112 §6.1.
 */
function hasValidTransferCoding({ headers, httpVersionMinor }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding'];
  return coding === undefined || (coding.toLowerCase() === 'chunked' && httpVersionMinor > 0);
}

/** Whether a field Host says one thing. */
export const isValidHost = (host: string): boolean => HOST.test(host);

/** One Host, which HTTP/1.0 may leave out (RFC 9112 §3.2). Names only one of two would believe are refused. */
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
