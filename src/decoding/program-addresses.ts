import { type Address, address } from '../solana/address.ts';

export const appPrograms = {
  tokenMetadata: address('metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s'),
  mplCore: address('CoREENxT6tW1HoK8ypY1SxRMZTcVPm7R94rH4PZNhX7d'),
  jupiterV6: address('JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4'),
  jupiterDca: address('DCA265Vj8a9CEuX1eb1LWRnDT7uK6q1xMipnNyatn23M'),
  okxRouter: address('6m2CDdhRgxpH4WjvdzxAYbGxwdGUz5MziiL5jek2kBma'),
  raydiumV4: address('675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8'),
  raydiumClmm: address('CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK'),
  raydiumCpmm: address('CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C'),
  whirlpools: address('whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc'),
  meteoraDlmm: address('LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo'),
  meteoraDammV1: address('Eo7WjKq67rjJQSZxS6z3YkapzY3eMj6Xy8X5EQVn5UaB'),
  meteoraDammV2: address('cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG'),
  meteoraDbc: address('dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN'),
  pumpFun: address('6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P'),
  pumpAmm: address('pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA'),
} as const satisfies Record<string, Address>;
