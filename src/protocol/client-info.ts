import type { IpAddress } from '../base/ip-address.ts';

/** The client as seen by the listener. */
export type ClientInfo = Readonly<{
  /** The forwarded address if the client is behind trusted proxies. Empty if the client has already disconnected. */
  address: string;
  ip: IpAddress | null;
  /** Whether `address` belongs to a trusted proxy that forwarded no client address. Many clients may share it. */
  isProxy: boolean;
  origin: string | null;
}>;

/** A client whose connection closed before its address was read. */
export const unknownClient: ClientInfo = { address: '', ip: null, isProxy: false, origin: null };
