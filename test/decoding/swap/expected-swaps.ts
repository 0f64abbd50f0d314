/** Also stands for SOL. */
export const SOL = 'So11111111111111111111111111111111111111112';
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';

/** Swap worked out by hand from balances. */
export type ExpectedSwap = Readonly<{
  index: number;
  swapper: string;
  in: readonly [mint: string, raw: bigint];
  out: readonly [mint: string, raw: bigint];
  /** Input and output of each pool. */
  pools: readonly (readonly [source: string, pool: string, given: bigint, taken: bigint])[];
  /** Percent and base units. */
  quote?: readonly [slippage: number, out: bigint];
  /** Other lamport changes of the swapper: tips, commissions, rent of accounts of others. */
  lamportsBeside?: bigint;
  /** Commission in the input token. */
  tokensBeside?: bigint;
}>;

const photonBuyer = 'DfMxre4cKmvogbLrPigxmibVTTQDuzjdXojWzjCXXhzj';
const bundled = 'ED5nyyWEzpPPiWimP8vYm7sD7TD3LAt3Q3gRTWHzPJBY';
const bundleCurve = 'Ak4Cu8ZTTbaLvAubaCSpzdrEKbpwMpkF4RArSoRLRvMF';

/** Four buyers in one transaction; the first pays the fee. */
const bundleBuy = (index: number, swapper: string, paid: bigint, got: bigint): ExpectedSwap => ({
  ...{ index, swapper, in: [SOL, paid], out: [bundled, got] },
  pools: [['Pump.fun', bundleCurve, paid, got]],
});

/** By file under ../shared/data/rest/getTransaction; empty for files without swaps. */
export const expectedSwaps: Readonly<Record<string, readonly ExpectedSwap[]>> = {
  'tx-parser/OKXDEX_commissionSolSwap2.json': [
    {
      index: 7,
      swapper: 'AG27WXxPym3K73JFKtpRxwbMfnRnuPu5bn6juzcvq5rp',
      in: [SOL, 63_629_071n],
      out: ['28ECNMKBj66GMBJxq1c3VyzJiKY5gDp2sEYc92Ybpump', 5_238_716_646n],
      pools: [['Raydium', 'DHAeayDZnb76kxF5T5fgh7n3txBuSPhwdHRQYQMYGywY', 63_629_071n, 5_238_716_646n]],
      lamportsBeside: -545_483n,
    },
  ],
  'tx-parser/OKXDEX_commissionSplProxySwap.json': [
    {
      index: 7,
      swapper: 'GKj54MVFppoYsxPU9jMn7CMniVRAuveFadyTtFhn1vXy',
      in: [USDC, 249_250_000n],
      out: ['DKu9kykSfbN5LBfFXtNNDPaX35o4Fv6vJ9FKk7pZpump', 6_373_264_828n],
      pools: [
        ['Phoenix', 'B8a4RCvFaG9AFsatCZLpGLkbCPytyr9K6jSZWLQZDjg1', 249_243_111n, 1_154_100_000n],
        ['Raydium', 'GjvW8JQSpKG5ogjyD3zozfaeJSShTajS5ZFrexT8L12k', 1_154_100_000n, 6_373_264_828n],
      ],
      tokensBeside: -750_000n,
    },
  ],
  'tx-parser/OKXDEX_swap_0.json': [
    {
      index: 7,
      swapper: 'E8oVrS4Pk74ouemj4t6grJ6w5Ah7SFLYa8VoRtvtWpnw',
      in: ['7atgF8KQo4wJrD5ATGX7t1V2zVvykPJbFfNeVf1icFv1', 358_800n],
      out: [bundled, 74_619n],
      pools: [
        ['Raydium CPMM', '8THC7UQN8zPXRL61o75fP4gcwRyB5W3o74yHyqarkqZ9', 358_800n, 15_742n],
        ['Raydium CLMM', 'HMqacQogqMpdux9DgbZQ75saxmSYGF4dMcpuLNYQdNU6', 15_742n, 74_619n],
      ],
    },
  ],
  'tx-parser/OKXDEX_swap_1.json': [
    {
      index: 7,
      swapper: 'EfbbhahGNuhqEraRZXrwETfsaKxScngEttdQixWAW4WE',
      in: [SOL, 10_000_000_000n],
      out: ['KMnDBXcPXoz6oMJW5XG4tXdwSWpmWEP2RQM1Uujpump', 998_528_432_013n],
      pools: [
        ['Meteora DLMM', '6GuU95VtWZGbrUyq11XKVBGEfBbR49Hhj37o3oXxjQRS', 10_000_000_000n, 998_528_432_013n],
      ],
    },
  ],
  'tx-parser/OKXDEX_swap_2.json': [
    {
      index: 4,
      swapper: 'FeWbDQ9SpgWS8grNrpFesVquJfxVkRu1WNZerKsrkcbY',
      in: ['HjhCs97TBaJBfaJf3ukzs8CEsGApYjgz88wrhdTPpump', 58_882_325_154n],
      out: [SOL, 1_173_873n],
      pools: [['Raydium', '5MAes42sE5Y3dkyGd3JSHsDidqhoLziDTnFzqCoe1uuq', 58_882_325_154n, 1_173_873n]],
    },
  ],
  'tx-parser/jupiterAggregatorV6_Route_1.json': [
    {
      index: 12,
      swapper: '3huskHPRJXT5pL6RW57HaA8pXRFojx6gfNVGL9cJ2vtB',
      in: [SOL, 400_000_000n],
      out: ['3p7eCgdQx1RiJUfr4t7Z8w6DpVbP7CMa9Z6Ff69tpump', 3_861_519_639_304n],
      pools: [['Raydium', 'Ho28uui8GGY2ZUe5UpW6pj8ks4cXaKXauoYMUafS7Nby', 400_000_000n, 3_861_519_639_304n]],
      quote: [0.8, 3_861_519_639_304n],
    },
  ],
  'tx-parser/jupiterAggregatorV6_Route_2.json': [
    {
      index: 5,
      swapper: '63EazyqF9nJN8SdGTMUaLrRKxS3XnmUiFuDp5KZ9wEV8',
      in: ['8SgNwESovnbG1oNEaPVhg6CR9mTMSK7jPvcYRe3wpump', 100_000_000n],
      out: [SOL, 12_309_272n],
      pools: [['Raydium CLMM', '8G6Mt4tbCHU8nfoWJnamLVXkEMFeia3fPnFD3EUwcmiH', 100_000_000n, 12_309_272n]],
      quote: [0.8, 12_309_272n],
    },
  ],
  'tx-parser/jupiterAggregatorV6_sharedAccountsRoute_1.json': [
    {
      index: 7,
      swapper: 'AVYG9UHetNHT1FEDPLv9pN2sCCH4CLsjvkzGjVXBfEiS',
      in: [USDC, 100_000_000n],
      out: ['oreoN2tQbHXVaZsr3pf66A48miqcBXCDJozganhEJgz', 944_945_170n],
      pools: [
        ['Invariant', 'EpmN6MQKynagrkfMWj9PHEh2WxK4VDLWxeHnn1iYvo5W', 20_000_000n, 188_382_438n],
        ['Meteora DLMM', 'CNyMBhDe985yBzn6EqyT6BJE89iWgufi6wgBZFK9kM1D', 80_000_000n, 126_665_141n],
        ['Phoenix', '5WyJr7R3aYpHTjSKXFmrgnVaRU987FoxgCkcELeAJqcm', 126_665_141n, 580_838_181n],
        ['Meteora DLMM', 'AvQvbFhPtJyaxbkqZPG1uaYwF3gg2JfKq6znUHoKyGE1', 580_838_181n, 756_562_732n],
      ],
      quote: [4, 923_100_690n],
    },
  ],
  'tx-parser/jupiterAggregatorV6_sharedAccountsRoute_2.json': [
    {
      index: 2,
      swapper: 'GKj54MVFppoYsxPU9jMn7CMniVRAuveFadyTtFhn1vXy',
      in: ['CMjfdovtzmgRsnhE1cCzdwDFGKt1UzZB4oCGQchQpump', 634_862_142_081n],
      out: [USDC, 47_461_249n],
      pools: [
        ['Raydium', 'GEBvDHNe3oFHovckYEVUhrNXFshkDWaM9QQoTwnYd6vx', 634_862_142_081n, 197_485_565n],
        ['Meteora DLMM', 'GkBsEDBvSBywMzBoVa1ug1V3hRYpzEaaeTBtjYRgjEW9', 197_485_565n, 94_110_904_815n],
        ['SolFi', 'B2e5QH2GDkRg6hj3y34GCUURBMGskPfX5RAAXe8RBRjS', 94_110_904_815n, 47_747_735n],
      ],
      quote: [0.5, 47_591_783n],
    },
  ],
  'tx-parser/jupiterDca_CloseDca_0.json': [],
  'tx-parser/jupiterDca_endAndClose_0.json': [],
  'tx-parser/jupiterDca_endAndClose_1.json': [],
  'tx-parser/jupiterDca_openDcaV2_0.json': [],
  'tx-parser/jupiterDca_openDcaV2_1.json': [],
  'tx-parser/photon_pumpfun_buy_0.json': [
    {
      index: 2,
      swapper: photonBuyer,
      in: [SOL, 395_999_999n],
      out: ['HQ4SzFMwYo8TXds1bHD2TvZdL7S75hK8w775rWrVpump', 5_609_742_876_530n],
      pools: [['Pump.fun', 'GPgXsGCFjzNNAZtUvxmNo3G3yEouoao1XdkK1SukitdS', 395_999_999n, 5_609_742_876_530n]],
      // Photon's commission and tip.
      lamportsBeside: -4_000_000n - 60_000_000n,
    },
  ],
  'tx-parser/photon_pumpfun_buy_1.json': [
    {
      index: 7,
      swapper: '2PhpwXnnnQWQCdiQwkG7Xbq5D3x72vCEGJEQ1kKrMHzi',
      in: [SOL, 99_000_000n],
      out: ['37AmZ9EYChwuK95dnP6sYYbqcoEbbvEZYJpinSLfpump', 294_233_863_538n],
      pools: [['Pump.fun', '7ke4MiP4CRN176wAkEdxxUVyUcHi2Qi4e8JJNNCtVeZM', 99_000_000n, 294_233_863_538n]],
      lamportsBeside: -1_000_000n - 5_000_000n,
    },
  ],
  'tx-parser/photon_pumpfun_sell.json': [
    {
      index: 2,
      swapper: 'CzXW1cD5H9M6d8uFonRqQA5bvfLQtZdaZFJzqpie88HM',
      in: ['4fSYiTPwwvU9Ym7CGXG4BNLKMcybg2GZXesYevS8pump', 50_287_397_622_085n],
      out: [SOL, 1_651_125_292n],
      pools: [
        ['Pump.fun', '2UiFmAK89Fv3xMRMDN5sD2jFQSBSSWeVPN84BAsYwmLq', 50_287_397_622_085n, 1_651_125_292n],
      ],
      lamportsBeside: -16_678_033n - 5_000_000n,
    },
  ],
  'tx-parser/pumpfun_buy_0.json': [
    {
      index: 6,
      swapper: 'EfbbhahGNuhqEraRZXrwETfsaKxScngEttdQixWAW4WE',
      in: [SOL, 3_030_000_000n],
      out: ['D66sbPtYqLnwPYcUqjDktrQtb52CnfF77C3sdpNpR8Si', 56_716_561_396_327n],
      pools: [
        ['Pump.fun', 'DizioTk7HKkYcVjiKuB6wdFXtGSisGX57mwG9PFwxXxm', 3_030_000_000n, 56_716_561_396_327n],
      ],
      lamportsBeside: -30_000_000n - 10_000_000n,
    },
  ],
  'tx-parser/pumpfun_buy_1.json': [
    {
      index: 8,
      swapper: '4DdrfiDHpmx55i4SPssxVzS9ZaKLb8qr45NKY9Er9nNh',
      in: [SOL, 1_010_000_000n],
      out: ['7nYhDYAxQdFn2DRPcjBFPQQz5qb8HeFiJv9o9w6fpump', 34_612_901_212_710n],
      pools: [
        ['Pump.fun', '6g4dVVZFSX4zti3E66qWhaAC8FKR1kFzdTFsnijgV7jC', 1_010_000_000n, 34_612_901_212_710n],
      ],
      lamportsBeside: -10_000_000n,
    },
  ],
  'tx-parser/pumpfun_buy_bundle.json': [
    bundleBuy(5, 'Gh6D6DZcASQLc2XoLpctT74KbRr4nrHF8wNptweckHoA', 389_961_228n, 12_373_970_345_963n),
    bundleBuy(15, '7SPkzf8DSxdemSKMEEKquRKEYrdDjcuHaQwac5nvnB4b', 390_688_975n, 12_100_159_018_198n),
    bundleBuy(25, 'GdCFP1doq784rQTHJDuvpLchVWoMtJwdAM8MQTCHWTuz', 397_732_218n, 12_023_935_360_031n),
    bundleBuy(35, '8rL9duqqeBRzZZyiz77xgfzDUdbR99TPjmVk5D1LNHuL', 408_276_429n, 12_044_860_698_416n),
  ],
  'tx-parser/pumpfun_create_0.json': [
    {
      index: 24,
      swapper: '6xo262KbDXepWbF3vPTrFXysr5vJwk3mozBXmXk3hmMx',
      in: [SOL, 1_010_000_000n],
      out: ['5dNYcCZXEGfGgbdUdq7MMR7KLsNJLLLgL83wLH8Fpump', 34_612_903_225_806n],
      pools: [
        ['Pump.fun', 'CQrqvWERJtEjw2rCCQV6EqfM6V6jzTuKjhJjKNFmGB7r', 1_010_000_000n, 34_612_903_225_806n],
      ],
      // Tip, and rent of mint, curve, token account and metadata.
      lamportsBeside: -4_000_000n - 1_461_600n - 1_231_920n - 2_039_280n - 15_616_720n,
    },
  ],
  'tx-parser/pumpfun_sell_0.json': [
    {
      index: 3,
      swapper: '4DdrfiDHpmx55i4SPssxVzS9ZaKLb8qr45NKY9Er9nNh',
      in: ['CnNVDyM7GXBBcH8giuRYm17YCn6kpFTTbnd6Tx4hpump', 592_443_959_000_000n],
      out: [SOL, 37_062_911_064n],
      pools: [
        ['Pump.fun', '6cSXbsWdUE86Nvwq8UZSQS8X8v4Rz3TP39V6gSb9Rg6f', 592_443_959_000_000n, 37_062_911_064n],
      ],
      lamportsBeside: -10_000_000n,
    },
  ],
  'tx-parser/raydiumLiquidityPoolV4_swap_0.json': [
    {
      index: 4,
      swapper: 'Do3UdALe5F7NRXB4uYcBzZtCbAt8ssu4a5kGZVucKhC5',
      in: ['2CrtdajpSb7DpMRLKP4yMtFLbCsWZjMkEvgSTf4Ypump', 836_112_233_953n],
      out: [SOL, 352_936_256n],
      pools: [['Raydium', '9xNtkAhkGNG6fPazLe7ZFmmiJ5Mss37sBx9eoya33o4q', 836_112_233_953n, 352_936_256n]],
      lamportsBeside: -3_152_902n - 1_000_000n,
    },
  ],
  'tx-parser/raydiumLiquidityPoolV4_swap_1.json': [
    {
      index: 4,
      swapper: 'ECvj86nDupkVh1cDgxrJw3zJkw3ahcDiVB3pPTbpskjD',
      in: [SOL, 100_000_000n],
      out: ['E8yBUD4AGdxK7MbQEf85oaAvVBuSoRsGCvX2sMxSpump', 43_045_438_075n],
      pools: [['Raydium', '2mF8wbzawjPzDoCiGBqoinbaVxMJAwRm5wQ1dtgSLZdD', 100_000_000n, 43_045_438_075n]],
      lamportsBeside: -900_000n - 1_000_000n,
    },
  ],
  'tx-parser/raydiumLiquidityPoolV4_swap_2.json': [
    {
      index: 7,
      swapper: 'orcACRJYTFjTeo2pV8TfYRTpmqfoYgbVi9GeANXTCc8',
      in: ['AaJ6gmTzaQw9zxfK6BD9N89wzZLuSuwTRbi8YrTCpump', 22_254_340_082n],
      out: [SOL, 2_615_124n],
      pools: [['Raydium', 'FrSpBqMa6MbEt4EY9CvPdM6Ycuc5wRYCdNcDMxgSznLz', 22_254_340_082n, 2_615_124n]],
      lamportsBeside: -1_000_020n,
    },
  ],
  'tx-parser/token_transfer_0.json': [],
  'tx-parser/transferChecked_0.json': [],
  'pumpfun-bot/raw_buy_tx_from_gettransaction.json': [
    {
      // A buy by a program account, and a coin priced in USDC.
      index: 3,
      swapper: 'BwWK17cbHxwWBKZkUYvzxLcNQ1YVyaFezduWbtm2de6s',
      in: [USDC, 3_517_192n],
      out: ['4F4gGVBAWuKi3EpmYdhntXvCVFqZZqmrb1cqNGawpump', 445_377_137_871n],
      pools: [['Pump.fun', 'HR8M4iQmzagQ7vUDREycE2XSHuELmiQSFSrCa4eKytn5', 3_517_192n, 445_377_137_871n]],
    },
  ],
  'pumpfun-bot/raw_create_tx_from_gettransaction.json': [
    {
      index: 26,
      swapper: '5htGpHK2oV9g2BcDqLdRBqjCLdy8mc3fsESfR5DU73eM',
      in: [SOL, 3_000_000_000n],
      out: ['CWiTGbCiDd8BKtNYNE2boT9fJGFG2MU53Uf6HQk4pump', 96_449_438_144_093n],
      pools: [
        ['Pump.fun', '3jJ83NDorkbFkF1JKbEfFWGeX16aXUiwby9RwJm9kat3', 3_000_000_000n, 96_449_438_144_093n],
      ],
      // Two tips, and rent of mint, curve and token account.
      lamportsBeside: -3_000_000n - 27_000_000n - 3_667_920n - 1_941_840n - 2_074_080n,
    },
  ],
  'pumpfun-bot/raw_create_tx_from_blocksubscribe.json': [
    {
      index: 21,
      swapper: '5zsxd4pGNCQpwyKiBWZ95nCTPsEPoS62xEGnjpW6FRy7',
      in: [SOL, 99_984_395n],
      out: ['7YD6ZHb39jGb33ki2iFd7kHK11yMkSFCc9kvjJscpump', 3_520_371_073_923n],
      pools: [['Pump.fun', '9hgcsTpZP48Ttku3uhg5gZ388YFCfErayJ5rHSru9PF7', 99_984_395n, 3_520_371_073_923n]],
      // Rent of mint, curve, token account, volume accumulator and creator vault.
      lamportsBeside: -3_744_480n - 1_691_280n - 2_074_080n - 1_844_400n - 890_880n,
    },
  ],
};
