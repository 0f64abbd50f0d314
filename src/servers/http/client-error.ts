import type { FailureCode } from '../../protocol/errors.ts';

/** What node:http says of bytes that are no request. */
export type ClientError = Pick<NodeJS.ErrnoException, 'code'> & { readonly rawPacket?: Buffer };

/** Bytes of a packet in which its request line is looked for. */
const LINE_MAX_BYTES = 2_048;

/** The target of the request that a packet begins with; null when it begins with something else. */
export function targetIn(packet: Buffer | undefined): string | null {
  const text = packet?.toString('latin1', 0, LINE_MAX_BYTES) ?? '';
  return /^[A-Z]{1,20} (\S+)/.exec(text)?.[1] ?? null;
}

/** The row of the table that it is. */
export function codeOf({ code }: Pick<ClientError, 'code'>): FailureCode {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'REQUEST_TIMEOUT';
  return code === 'HPE_HEADER_OVERFLOW' ? 'HEADERS_TOO_LARGE' : 'MALFORMED_HTTP';
}
