/** In the order of Agave's `UiAccountEncoding`; `binary` is a bare base58 string. */
export const accountEncodings = ['binary', 'base58', 'base64', 'jsonParsed', 'base64+zstd'] as const;
export type AccountEncoding = (typeof accountEncodings)[number];

/** In the order of Agave's `UiTransactionEncoding`; `binary` is a bare base58 string. */
export const transactionEncodings = ['binary', 'base64', 'base58', 'json', 'jsonParsed'] as const;
export type TransactionEncoding = (typeof transactionEncodings)[number];

/** In the order of Agave's `TransactionDetails`. */
export const transactionDetails = ['full', 'signatures', 'none', 'accounts'] as const;
export type TransactionDetails = (typeof transactionDetails)[number];

export type BlockView = Readonly<{
  encoding: TransactionEncoding;
  details: TransactionDetails;
  rewards: boolean;
  /** undefined: only legacy transactions, and no `version` member. */
  maxVersion: number | undefined;
}>;

export type DataSlice = Readonly<{ offset: number; length: number }>;
