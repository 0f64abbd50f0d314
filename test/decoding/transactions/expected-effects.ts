/**
 * Effects of files of ../shared/data/rest/getTransaction in the notation of `effectLines`. They agree with
 * the balances, which the test sums up. Beside a swap, only token transfers are listed.
 */
const text = `
blockbuster-cnft/double_bubblegum_mint: COMPRESSED_NFT_MINT by BUBBLEGUM
  0 COMPRESSED_NFT_MINT BXNg APBG 51Hr HRCS 7oo8 BXNg (Test Sticker #1 TP1 https://dialect-file-sto 0 false
      true 0 (()) (true EpbH) - (()) [(51Hr true 100)])
  5 COMPRESSED_NFT_MINT BXNg APBG 51Hr CYQm 7oo8 BXNg (Test Sticker #2 TP1 https://dialect-file-sto 0 false
      true 0 (()) (true EpbH) - (()) [(51Hr true 100)])
blockbuster-cnft/helium_nested: TOKEN_BURN by Token Program
  1 UNKNOWN
  3 UNKNOWN < hemA
  4 THAWACCOUNT A57K dybS EQis < hemA
  5 TOKEN_BURN devT 5 EQis < hemA
  6 FREEZEACCOUNT A57K dybS EQis < hemA
  7 COMPRESSED_NFT_MINT 897C 9U25 devT Hccd devT 897C (savory-butter-shetland HOTSPOT
      https://mobile-metadata. 0 true true - (()) (true EKLV) - (()) []) < hemA
formfunction/BidTxSol: NFT_BID by FORMFUNCTION
  4 NFT_BID CnXi So11 DJ11 0.1 8A9z
  1 SOL_TRANSFER DXia 8kgb 1795680 < devm
  5 SOL_TRANSFER CnXi 7EoJ 100000000 < devm
formfunction/BuyEditionV2TxSol: NFT_SALE by FORMFUNCTION
  1 NFT_SALE 5ciZ C7Xt 4G9i So11 DJ11 0.01
  10 NFT_MINT 4G9i 1 J3SP 5ciZ - < devm
  17 SETAUTHORITY mintTokens 4G9i 5ciZ AHGh [5ciZ] < devm
  18 SETAUTHORITY freezeAccount 4G9i 5ciZ AHGh [5ciZ] < devm
  11 SOL_TRANSFER 5ciZ 7bdf 5616720 < devm
  14 SOL_TRANSFER 5ciZ AHGh 2568240 < devm
  19 SOL_TRANSFER 5ciZ 5iae 500000 < devm
  20 SOL_TRANSFER 5ciZ C7Xt 9500000 < devm
formfunction/CancelOfferTxUsdc: NFT_BID_CANCEL by FORMFUNCTION
  0 NFT_BID_CANCEL 7GLf Gh9Z CXfj 3 334G
  1 UNKNOWN
  2 TOKEN_TRANSFER 3000000 7GLf CXfj 3xV7 Gh9Z < devm
formfunction/SettleAuctionTxSol: NFT_SALE by FORMFUNCTION
  0 NFT_SALE H2Kj 7GLf 8UcF So11 DJ11 0.2
  9 UNKNOWN < devm
  10 THAWACCOUNT 7LCy 2xeE 8UcF < devm
  12 REVOKE 7GLf [BXUU DXia] 7LCy < devm
  13 UNKNOWN
  11 NFT_TRANSFER 1 H2Kj 7GLf 6WHA 8UcF < devm
  1 SOL_TRANSFER 5kQk 7GLf 10000000 < devm
  2 SOL_TRANSFER 5kQk 5iae 10000000 < devm
  3 SOL_TRANSFER 5kQk 7GLf 180000000 < devm
formfunction/SoldGenerativeMintTx: NFT_MINT by TOKEN_METADATA
  0 UNKNOWN
  14 NFT_MINT 2rP2 1 7d6d 9bHQ 849J < gach
  18 SETAUTHORITY mintTokens 2rP2 9bHQ 7qb6 [9bHQ] < gach
  19 SETAUTHORITY freezeAccount 2rP2 9bHQ 7qb6 [9bHQ] < gach
  21 UNKNOWN
  1 SOL_TRANSFER 9bHQ 9bHQ 100000000 < gach
  11 SOL_TRANSFER 9bHQ 7aEp 5616720 < gach
  15 SOL_TRANSFER 9bHQ 7qb6 2853600 < gach
pumpfun-bot/raw_buy_tx_from_gettransaction: SWAP by PUMP_FUN
  3 SWAP BwWK ((EPjF 3517192) (4F4g 445377137871)) [(HR8M Pump.fun (EPjF 3517192) (4F4g 445377137871))] - -
      - < MAyh
  4 TOKEN_TRANSFER 445377137871 BwWK HR8M 9LdJ 4F4g < MAyh
  5 TOKEN_TRANSFER 3517192 HR8M BwWK AShU EPjF < MAyh
tx-parser/OKXDEX_commissionSplProxySwap: SWAP by OKX_DEX_ROUTER
  7 SWAP GKj5 ((EPjF 249250000) (DKu9 6373264828)) [(B8a4 Phoenix (EPjF 249243111) (So11 1154100000)) (GjvW
      Raydium (So11 1154100000) (DKu9 6373264828))] - - -
  8 TOKEN_TRANSFER 249250000 HV1K GKj5 HjkG EPjF < 6m2C
  10 TOKEN_TRANSFER 1154100000 HV1K C6hT 2rik So11 < 6m2C
  11 TOKEN_TRANSFER 249243111 ED7P HV1K ED7P EPjF < 6m2C
  14 TOKEN_TRANSFER 1154100000 5Q54 HV1K 8hQ2 So11 < 6m2C
  15 TOKEN_TRANSFER 6373264828 GKj5 5Q54 76NM DKu9 < 6m2C
  16 TOKEN_TRANSFER 750000 e24S GKj5 5HeH EPjF < 6m2C
tx-parser/OKXDEX_swap_0: SWAP by OKX_DEX_ROUTER
  7 SWAP E8oV ((7atg 358800) (ED5n 74619)) [(8THC Raydium CPMM (7atg 358800) (So11 15742)) (HMqa Raydium
      CLMM (So11 15742) (ED5n 74619))] - - -
  9 TOKEN_TRANSFER 358800 GpMZ E8oV f2Yz 7atg < 6m2C
  10 TOKEN_TRANSFER 15742 HV1K GpMZ 2rik So11 < 6m2C
  12 TOKEN_TRANSFER 15742 HMqa HV1K 8h2t So11 < 6m2C
  13 TOKEN_TRANSFER 74619 E8oV HMqa 7tKH ED5n < 6m2C
tx-parser/jupiterAggregatorV6_Route_1: SWAP by JUPITER_V_6
  12 SWAP 3hus ((So11 400000000) (3p7e 3861519639304)) [(Ho28 Raydium (So11 400000000) (3p7e
      3861519639304))] 0.8 3861519639304 0
  14 TOKEN_TRANSFER 400000000 5Q54 3hus 6h4f So11 < JUP6
  15 TOKEN_TRANSFER 3861519639304 3hus 5Q54 E3ec 3p7e < JUP6
tx-parser/jupiterAggregatorV6_sharedAccountsRoute_1: SWAP by JUPITER_V_6
  7 SWAP AVYG ((EPjF 100000000) (oreo 944945170)) [(EpmN Invariant (EPjF 20000000) (oreo 188382438)) (CNyM
      Meteora DLMM (EPjF 80000000) (85VB 126665141)) (5WyJ Phoenix (85VB 126665141) (So11 580838181)) (AvQv
      Meteora DLMM (So11 580838181) (oreo 756562732))] 4 923100690 -0.02184448
  8 TOKEN_TRANSFER 100000000 7iWn AVYG Epda EPjF < JUP6
  10 TOKEN_TRANSFER 188382438 7iWn J4uB G7Sb oreo < JUP6
  11 TOKEN_TRANSFER 20000000 J4uB 7iWn DCz8 EPjF < JUP6
  14 TOKEN_TRANSFER 80000000 CNyM 7iWn CaBv EPjF < JUP6
  15 TOKEN_TRANSFER 126665141 7iWn CNyM 3Hov 85VB < JUP6
  19 TOKEN_TRANSFER 580838181 7iWn AMhk 2oL6 So11 < JUP6
  20 TOKEN_TRANSFER 126660000 BtZU 7iWn BtZU 85VB < JUP6
  24 TOKEN_TRANSFER 580838181 AvQv 7iWn 4wpD So11 < JUP6
  25 TOKEN_TRANSFER 756562732 7iWn AvQv G7Sb oreo < JUP6
  28 TOKEN_TRANSFER 944945170 AVYG 7iWn B2Xs oreo < JUP6
tx-parser/photon_pumpfun_sell: SWAP by PHOTON
  2 SWAP CzXW ((4fSY 50287397622085) (So11 1651125292)) [(2UiF Pump.fun (4fSY 50287397622085) (So11
      1651125292))] - - -
  4 TOKEN_TRANSFER 50287397622085 2UiF CzXW BtR4 4fSY < BSfD
tx-parser/pumpfun_buy_0: SWAP by PUMP_FUN
  6 SWAP Efbb ((So11 3030000000) (D66s 56716561396327)) [(Dizi Pump.fun (So11 3030000000) (D66s
      56716561396327))] - - -
  7 TOKEN_TRANSFER 56716561396327 Efbb Dizi 9Qhd D66s < 6EF8
tx-parser/pumpfun_sell_0: SWAP by PUMP_FUN
  3 SWAP 4Ddr ((CnNV 592443959000000) (So11 37062911064)) [(6cSX Pump.fun (CnNV 592443959000000) (So11
      37062911064))] - - -
  4 TOKEN_TRANSFER 592443959000000 6cSX 4Ddr DPRZ CnNV < 6EF8
tx-parser/token_transfer_0: TOKEN_TRANSFER by Token Program
  7 TOKEN_TRANSFER 3000000000 DNfu Eohz 3ZiT HbDH
  13 TOKEN_TRANSFER 3000000000 FTg1 Eohz EgeD HbDH
  19 TOKEN_TRANSFER 3000000000 69ng Eohz 7Cyc HbDH
  25 TOKEN_TRANSFER 3000000000 7XgB Eohz 2eLF HbDH
  31 TOKEN_TRANSFER 3000000000 4Be9 Eohz Dtk7 HbDH
`;

export const expectedEffects: ReadonlyMap<string, readonly string[]> = new Map(
  text
    .replaceAll(/\n {6}/g, ' ')
    .trim()
    .split(/\n(?! )/)
    .map((part) => {
      const [head = '', ...lines] = part.split('\n').map((line) => line.trim());
      const [file = '', chief = ''] = head.split(': ');
      return [file, [chief, ...lines]];
    }),
);
