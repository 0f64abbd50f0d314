/** Where shreds come in over UDP. */
export type UdpShredsConfig = Readonly<{
  /** The address to listen on, IPv4 or IPv6. */
  host: string;
  /** 0 takes a free one. */
  port: number;
  /**
   * Addresses and networks ("203.0.113.7", "10.0.0.0/8") that packets are taken from; none stands for everyone. A
   * packet's address can be forged: the leader's signature is what proves a shred.
   */
  senders: readonly string[];
}>;

/** A server of gRPC streams that the shred stage listens to. */
export type ShredServer = Readonly<{
  /** What logs call it. Public. */
  name: string;
  /** http (plaintext) or https. May hold secrets: never shown. */
  url: string;
  /** Sent with every stream, such as `x-token`. May hold secrets: never shown. */
  headers: Readonly<Record<string, string>>;
}>;

/** Sources of the shred stage. All that are named are listened to; the first copy of everything wins. */
export type ShredsConfig = Readonly<{
  /** null for no UDP. */
  udp: UdpShredsConfig | null;
  /** Servers of Jito's `shredstream.ShredstreamProxy/SubscribeEntries`. */
  entries: readonly ShredServer[];
  /** Servers of `geyser.Geyser/SubscribeDeshred`. */
  deshred: readonly ShredServer[];
  /** Shreds of other versions are dropped; null learns it from the nodes of the network. */
  shredVersion: number | null;
}>;

/** No source at all. */
export const noShreds: ShredsConfig = { udp: null, entries: [], deshred: [], shredVersion: null };
