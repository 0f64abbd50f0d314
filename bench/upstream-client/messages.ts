export const clients = ['undici', 'own', 'pipelined'] as const;
export type ClientKind = (typeof clients)[number];

export type ClientOrder = Readonly<{ client: ClientKind; url: string; seconds: number }>;

export type ClientMessage = Readonly<{ requests: number; cpuSeconds: number }>;
