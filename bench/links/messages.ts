/** The ways in which requests go to a node. */
export const ways = ['undici', 'own', 'pipelined'] as const;
export type Way = (typeof ways)[number];

/** What a poster is told to do, once at a time. */
export type PosterOrder = Readonly<{ way: Way; url: string; seconds: number }>;

/** What came of it. */
export type PosterWord = Readonly<{ requests: number; cpuSeconds: number }>;
