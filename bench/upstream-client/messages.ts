/** The ways in which requests go to a node. */
export const clients = ['undici', 'own', 'pipelined'] as const;
export type ClientKind = (typeof clients)[number];

/** What a poster is told to do, once at a time. */
export type ClientOrder = Readonly<{ client: ClientKind; url: string; seconds: number }>;

/** What came of it. */
export type ClientMessage = Readonly<{ requests: number; cpuSeconds: number }>;
