import { programs } from '../../../src/solana/programs.ts';
import { type Rows, rowsOf } from './row.ts';

const pointer = (extension: number, name: string, member: string): string => `
  initialize${name} | ${extension} 0 @8 @9 | 1 | mint=@1 authority=@8 ${member}=@9;
  initialize${name} | ${extension} 0 32*0 32*0 | 1 | mint=@1;
  update${name} | ${extension} 1 @9 | 2 | mint=@1 authority=@2 ${member}=@9;
`;

/** Sources: spl-token-2022-interface with its interfaces, spl-associated-token-account-interface. */
export const tokenRows: readonly Rows[] = [
  rowsOf(
    'spl-associated-token-account',
    programs.ata,
    `
  create | | 7 /6 | source=@1 account=@2 wallet=@3 mint=@4 systemProgram=@5 tokenProgram=@6;
  create | 0 | 6 | source=@1 account=@2 wallet=@3 mint=@4 systemProgram=@5 tokenProgram=@6;
  createIdempotent | 1 | 6 | source=@1 account=@2 wallet=@3 mint=@4 systemProgram=@5 tokenProgram=@6;
  recoverNested | 2 | 7 | nestedSource=@1 nestedMint=@2 destination=@3 nestedOwner=@4 ownerMint=@5 wallet=@6
    tokenProgram=@7;
  `,
  ),
  rowsOf(
    'spl-token',
    programs.token,
    `
  initializeMint | 0 6 @8 1 @9 | 2 | mint=@1 rentSysvar=@2 decimals=6 mintAuthority=@8 freezeAuthority=@9;
  initializeMint | 0 6 @8 0 | 2 | mint=@1 rentSysvar=@2 decimals=6 mintAuthority=@8;
  initializeAccount | 1 | 4 | account=@1 mint=@2 owner=@3 rentSysvar=@4;
  initializeMultisig | 2 2 | 4 /3 | multisig=@1 rentSysvar=@2 signers=[@3,@4] m=2;
  transfer | 3 42:64 | 3 | source=@1 destination=@2 authority=@3 amount="42";
  transfer | 3 42:64 | 5 /3 | source=@1 destination=@2 multisigAuthority=@3 signers=[@4,@5] amount="42";
  approve | 4 42:64 | 3 | source=@1 delegate=@2 owner=@3 amount="42";
  revoke | 5 | 2 | source=@1 owner=@2;
  setAuthority | 6 0 1 @9 | 2 | mint=@1 authority=@2 authorityType="mintTokens" newAuthority=@9;
  setAuthority | 6 3 0 | 3 /2 | account=@1 multisigAuthority=@2 signers=[@3] authorityType="closeAccount"
    newAuthority=null;
  mintTo | 7 42:64 | 3 | mint=@1 account=@2 mintAuthority=@3 amount="42";
  burn | 8 42:64 | 3 | account=@1 mint=@2 authority=@3 amount="42";
  closeAccount | 9 | 3 | account=@1 destination=@2 owner=@3;
  freezeAccount | 10 | 3 | account=@1 mint=@2 freezeAuthority=@3;
  thawAccount | 11 | 4 /3 | account=@1 mint=@2 multisigFreezeAuthority=@3 signers=[@4];
  transferChecked | 12 42:64 2 | 4 | source=@1 mint=@2 destination=@3 authority=@4 tokenAmount=ui(42,2);
  approveChecked | 13 42:64 2 | 4 | source=@1 mint=@2 delegate=@3 owner=@4 tokenAmount=ui(42,2);
  mintToChecked | 14 42:64 2 | 3 | mint=@1 account=@2 mintAuthority=@3 tokenAmount=ui(42,2);
  burnChecked | 15 42:64 2 | 3 | account=@1 mint=@2 authority=@3 tokenAmount=ui(42,2);
  initializeAccount2 | 16 @9 | 3 | account=@1 mint=@2 rentSysvar=@3 owner=@9;
  syncNative | 17 | 1 | account=@1;
  initializeAccount3 | 18 @9 | 2 | account=@1 mint=@2 owner=@9;
  initializeMultisig2 | 19 1 | 2 | multisig=@1 signers=[@2] m=1;
  initializeMint2 | 20 6 @8 0 | 1 | mint=@1 decimals=6 mintAuthority=@8;
  getAccountDataSize | 21 7 0 13 0 | 1 | mint=@1 extensionTypes=["immutableOwner","nonTransferableAccount"];
  getAccountDataSize | 21 | 1 | mint=@1;
  initializeImmutableOwner | 22 | 1 | account=@1;
  amountToUiAmount | 23 42:64 | 1 | mint=@1 amount="42";
  uiAmountToAmount | 24 '0.42' | 1 | mint=@1 uiAmount="0.42";
  withdrawExcessLamports | 38 | 3 | source=@1 destination=@2 authority=@3;
  unwrapLamports | 45 1 42:64 | 3 | source=@1 destination=@2 authority=@3 amount="42";
  unwrapLamports | 45 0 | 4 /3 | source=@1 destination=@2 multisigAuthority=@3 signers=[@4];
  batch | 255 3 9 3 42:64 1 1 17 | 4 |
    instructions=[{type:"transfer",info:{source:@1,destination:@2,authority:@3,amount:"42"}},
    {type:"syncNative",info:{account:@4}}];
  burn | 8 18446744073709551615:64 | 3 | account=@1 mint=@2 authority=@3 amount="18446744073709551615";
  initializeMint2 | 20 6 @8 1 @9 | 1 | mint=@1 decimals=6 mintAuthority=@8 freezeAuthority=@9;
  `,
  ),
  rowsOf(
    'spl-token',
    programs.token2022,
    `
  initializeMintCloseAuthority | 25 1 @9 | 1 | mint=@1 newAuthority=@9;
  initializeTransferFeeConfig | 26 0 1 @8 0 50:16 900:64 | 1 | mint=@1 transferFeeConfigAuthority=@8
    transferFeeBasisPoints=50 maximumFee=900;
  transferCheckedWithFee | 26 1 55:64 2 5:64 | 4 | source=@1 mint=@2 destination=@3 authority=@4
    tokenAmount=ui(55,2) feeAmount=ui(5,2);
  withdrawWithheldTokensFromMint | 26 2 | 3 | mint=@1 feeRecipient=@2 withdrawWithheldAuthority=@3;
  withdrawWithheldTokensFromAccounts | 26 3 2 | 6 /5 | mint=@1 feeRecipient=@2
    multisigWithdrawWithheldAuthority=@3 signers=[@4] sourceAccounts=[@5,@6];
  harvestWithheldTokensToMint | 26 4 | 3 /1 | mint=@1 sourceAccounts=[@2,@3];
  setTransferFee | 26 5 7:16 8:64 | 3 /2 | mint=@1 multisigtransferFeeConfigAuthority=@2 signers=[@3]
    transferFeeBasisPoints=7 maximumFee=8;
  initializeDefaultAccountState | 28 0 2 | 1 | mint=@1 accountState="frozen";
  updateDefaultAccountState | 28 1 1 | 2 | mint=@1 freezeAuthority=@2 accountState="initialized";
  reallocate | 29 8 0 28 0 | 4 | account=@1 payer=@2 systemProgram=@3 owner=@4
    extensionTypes=["memoTransfer","permissionedBurn"];
  enableRequiredMemoTransfers | 30 0 | 2 | account=@1 owner=@2;
  disableRequiredMemoTransfers | 30 1 | 2 | account=@1 owner=@2;
  createNativeMint | 31 | 3 | payer=@1 nativeMint=@2 systemProgram=@3;
  initializeNonTransferableMint | 32 | 1 | mint=@1;
  enableCpiGuard | 34 0 | 2 | account=@1 owner=@2;
  disableCpiGuard | 34 1 | 3 /2 | account=@1 multisigOwner=@2 signers=[@3];
  initializePermanentDelegate | 35 @9 | 1 | mint=@1 delegate=@9;
  initializeInterestBearingConfig | 33 0 32*0 65535:16 | 1 | mint=@1 rateAuthority=null rate=-1;
  updateInterestBearingConfigRate | 33 1 300:16 | 2 | mint=@1 rateAuthority=@2 newRate=300;
  initializeScaledUiAmountConfig | 43 0 32*0 1e+21:f64 | 1 | mint=@1 authority=null
    multiplier="1000000000000000000000";
  updateMultiplier | 43 1 1e-7:f64 -77:64 | 2 | mint=@1 authority=@2 newMultiplier="0.0000001"
    newMultiplierTimestamp=-77;
  initializePausableConfig | 44 0 @9 | 1 | mint=@1 authority=@9;
  pause | 44 1 | 2 | mint=@1 authority=@2;
  resume | 44 2 | 2 | mint=@1 authority=@2;
  initializeTokenMetadata | metadata:initialize_account 32'N' 32'S' 32'' | 4 | metadata=@1 updateAuthority=@2
    mint=@3 mintAuthority=@4 name="N" symbol="S" uri="";
  updateTokenMetadataField | metadata:updating_field 1 32'X' | 2 | metadata=@1 updateAuthority=@2
    field="symbol" value="X";
  updateTokenMetadataField | metadata:updating_field 3 32'colour' 32'red' | 2 | metadata=@1 updateAuthority=@2
    field="colour" value="red";
  removeTokenMetadataKey | metadata:remove_key_ix 1 32'colour' | 2 | metadata=@1 updateAuthority=@2
    key="colour" idempotent=true;
  updateTokenMetadataAuthority | metadata:update_the_authority 32*0 | 2 | metadata=@1 updateAuthority=@2
    newAuthority=null;
  emitTokenMetadata | metadata:emitter 1 3:64 0 | 1 | metadata=@1 start=3;
  initializeTokenGroup | group:initialize_token_group 32*0 300:64 | 3 | group=@1 mint=@2 mintAuthority=@3
    updateAuthority=null maxSize=300;
  updateTokenGroupMaxSize | group:update_group_max_size 5:64 | 2 | group=@1 updateAuthority=@2 maxSize=5;
  updateTokenGroupAuthority | group:update_authority @9 | 2 | group=@1 updateAuthority=@2 newAuthority=@9;
  initializeTokenGroupMember | group:initialize_member | 5 | member=@1 memberMint=@2 memberMintAuthority=@3
    group=@4 groupUpdateAuthority=@5;
  initializeMintCloseAuthority | 25 0 | 1 | mint=@1 newAuthority=null;
  initializeTransferFeeConfig | 26 0 0 1 @8 50:16 900:64 | 1 | mint=@1 withdrawWithheldAuthority=@8
    transferFeeBasisPoints=50 maximumFee=900;
  withdrawWithheldTokensFromMint | 26 2 | 5 /3 | mint=@1 feeRecipient=@2 multisigWithdrawWithheldAuthority=@3
    signers=[@4,@5];
  withdrawWithheldTokensFromAccounts | 26 3 1 | 4 | mint=@1 feeRecipient=@2 withdrawWithheldAuthority=@3
    sourceAccounts=[@4];
  setTransferFee | 26 5 7:16 8:64 | 2 | mint=@1 transferFeeConfigAuthority=@2 transferFeeBasisPoints=7
    maximumFee=8;
  initializeInterestBearingConfig | 33 0 @8 300:16 | 1 | mint=@1 rateAuthority=@8 rate=300;
  updateTokenMetadataField | metadata:updating_field 0 32'X' | 2 | metadata=@1 updateAuthority=@2 field="name"
    value="X";
  updateTokenMetadataField | metadata:updating_field 2 32'X' | 2 | metadata=@1 updateAuthority=@2 field="uri"
    value="X";
  emitTokenMetadata | metadata:emitter 0 1 9:64 | 1 | metadata=@1 end=9;
  ${pointer(36, 'TransferHook', 'programId')}
  ${pointer(39, 'MetadataPointer', 'metadataAddress')}
  ${pointer(40, 'GroupPointer', 'groupAddress')}
  ${pointer(41, 'GroupMemberPointer', 'memberAddress')}
  `,
  ),
];
