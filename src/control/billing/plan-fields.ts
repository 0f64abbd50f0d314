/** Amounts are in minor units of the currency, such as cents. */
export type PlanPrice = Readonly<{
  /** ISO 4217, lower case. */
  currency: string;
  monthlyPrice: number;
  /** Credits that the monthly price covers. */
  includedCredits: number;
  /** Price of a million further credits. */
  pricePerMillion: number;
}>;

export const MONTHLY_PRICE_MAX = 10 ** 12;
export const CREDITS_MAX = 2 ** 48;
export const PRICE_PER_MILLION_MAX = 10 ** 12;

const currencies = new Set(Intl.supportedValuesOf('currency').map((code) => code.toLowerCase()));

export const isCurrency = (text: string): boolean => currencies.has(text);

/** Minimum and maximum of each limit. */
export const planLimitRanges = {
  rpcPerSecond: [0, 10_000_000],
  rpcBurst: [1, 10_000_000],
  monthlyCredits: [0, CREDITS_MAX],
  streamCredits: [0, 1_000_000],
  wsConnectionsMax: [0, 1_000_000],
  wsSubscriptionsMax: [1, 1_000_000],
  wsMessageMaxBytes: [1_024, 256 * 1024 ** 2],
  grpcStreamsMax: [0, 1_000_000],
  grpcFiltersMax: [1, 1_000_000],
  grpcBlocksMax: [0, 1_000_000],
  grpcPubkeysMax: [0, 100_000_000],
  grpcCuckooMaxBytes: [0, 2_047 * 1024 ** 2],
} as const;

/** Maximum price of a method in credits. */
export const METHOD_CREDITS_MAX = 1_000_000;
export const METHOD_NAME: RegExp = /^[A-Za-z0-9_./-]{1,64}$/;
