import { type HttpOptions, httpOptions } from '../http/options.ts';

/** What bounds the raw door. Where node:http has a bound of the same name, both have the same. */
export type FastHttpOptions = Pick<
  HttpOptions,
  | 'headersMaxBytes'
  | 'headersTimeoutMs'
  | 'requestTimeoutMs'
  | 'keepAliveTimeoutMs'
  | 'idleTimeoutMs'
  | 'requestsInFlightMax'
> &
  Readonly<{
    /** Requests with longer heads go to node:http. */
    headMaxBytes: number;
    /** Requests with longer bodies go to node:http. */
    bodyMaxBytes: number;
    /** Whether all connections are read into the same memory, where the runtime lets them. */
    sharesReads: boolean;
  }>;

export const fastHttpOptions: FastHttpOptions = {
  ...httpOptions,
  headMaxBytes: 8 * 1024,
  bodyMaxBytes: 64 * 1024,
  sharesReads: true,
};
