import type { FailureCode } from '../../protocol/errors.ts';

/** Error of node:http for bytes that are not a valid request. */
export type ClientError = Pick<NodeJS.ErrnoException, 'code'> & { readonly rawPacket?: Buffer };

const LINE_MAX_BYTES = 2_048;

/** The request target at the start of a packet; null when it is no request line. */
export function targetIn(packet: Buffer | undefined): string | null {
  const text = packet?.toString('latin1', 0, LINE_MAX_BYTES) ?? '';
  return /^[A-Z]{1,20} (\S+)/.exec(text)?.[1] ?? null;
}

export function codeOf({ code }: Pick<ClientError, 'code'>): FailureCode {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'REQUEST_TIMEOUT';
  return code === 'HPE_HEADER_OVERFLOW' ? 'HEADERS_TOO_LARGE' : 'MALFORMED_HTTP';
}
