import type { RouteOutput } from '../../src/control/api/contract/contract.ts';
import type { KeyJson } from '../../src/control/api/contract/keys.ts';
import { rpcBody, rpcPath } from './gateway-call.ts';

export type Urls = RouteOutput<'GET /me'>['service']['urls'];
export type CodeSnippet = Readonly<{ id: string; label: string; text: string }>;

/** The system program, present on every network. */
const ANY_ADDRESS = '11111111111111111111111111111111';

export const quoted = (text: string): string => text.replaceAll("'", "'\\''");

const shellUrl = (url: string): string => (url.includes('?') ? `'${url}'` : url);

export const curlRpc = (urls: Urls, secret: string, json: string, network?: string): string =>
  `curl ${shellUrl(urls.http + rpcPath(network))} \\
  -H 'Authorization: Bearer ${secret}' \\
  -H 'Content-Type: application/json' \\
  -d '${quoted(json)}'`;

/** The method that the samples of an RPC key call. */
export const SAMPLE_METHOD = 'getSlot';

const rpcSnippets = (urls: Urls, secret: string): readonly CodeSnippet[] => [
  { id: 'curl', label: 'curl', text: curlRpc(urls, secret, rpcBody(SAMPLE_METHOD)) },
  {
    id: 'kit',
    label: 'TypeScript (kit)',
    text: `import { createDefaultRpcTransport, createSolanaRpcFromTransport } from '@solana/kit';

const transport = createDefaultRpcTransport({
  url: '${urls.http}/v1/rpc',
  headers: { authorization: 'Bearer ${secret}' },
});
const rpc = createSolanaRpcFromTransport(transport);
console.log(await rpc.getSlot().send());`,
  },
  {
    id: 'web3',
    label: 'web3.js',
    text: `import { Connection } from '@solana/web3.js';

const connection = new Connection('${urls.http}/v1/rpc', {
  wsEndpoint: '${urls.ws}/v1/ws?api-key=${secret}',
  httpHeaders: { authorization: 'Bearer ${secret}' },
  disableRetryOnRateLimit: true,
});
console.log(await connection.getSlot());`,
  },
  {
    id: 'rust',
    label: 'Rust',
    text: `use solana_client::rpc_client::RpcClient;

fn main() {
    let client = RpcClient::new("${urls.http}/v1/rpc?api-key=${secret}".to_string());
    println!("{}", client.get_slot().unwrap());
}`,
  },
  {
    id: 'python',
    label: 'Python',
    text: `# pip install httpx
import httpx

answer = httpx.post(
    "${urls.http}/v1/rpc",
    headers={"Authorization": "Bearer ${secret}"},
    json={"jsonrpc": "2.0", "id": 1, "method": "getSlot"},
)
print(answer.json()["result"])`,
  },
  {
    id: 'go',
    label: 'Go',
    text: `package main

import (
	"context"
	"fmt"

	"github.com/gagliardetto/solana-go/rpc"
)

func main() {
	client := rpc.NewWithHeaders("${urls.http}/v1/rpc", map[string]string{
		"Authorization": "Bearer ${secret}",
	})
	slot, err := client.GetSlot(context.Background(), rpc.CommitmentConfirmed)
	fmt.Println(slot, err)
}`,
  },
  {
    id: 'wscat',
    label: 'wscat',
    text: `wscat -c '${urls.ws}/v1/ws?api-key=${secret}' -w 10 -x '${rpcBody('slotSubscribe')}'`,
  },
  {
    id: 'rest',
    label: 'REST',
    text: `curl '${urls.http}/sol/v1/wallet/balance?wallet=${ANY_ADDRESS}' -H 'x-api-key: ${secret}'`,
  },
];

/** Placeholder for when the gRPC server is disabled. */
const GRPC_PLACEHOLDER = 'http://127.0.0.1:50051';

const streams = {
  grpc: {
    request: '{"slots":{"all":{}}}',
    method: 'geyser.Geyser/Subscribe',
    // The published client rejects requests with missing fields.
    client: `{
  accounts: {},
  slots: { all: {} },
  transactions: {},
  transactionsStatus: {},
  blocks: {},
  blocksMeta: {},
  entry: {},
  accountsDataSlice: [],
}`,
  },
  fs: {
    request: '{"deshred_transactions":{"all":{}}}',
    method: 'geyser.Geyser/SubscribeDeshred',
    client: `{
  deshredTransactions: {
    all: { vote: false, accountInclude: [], accountExclude: [], accountRequired: [] },
  },
  slots: {},
}`,
  },
} as const;

export const streamUrl = ({ grpc }: Urls): URL =>
  new URL(grpc?.includes('://') ? grpc : `http://${grpc ?? GRPC_PLACEHOLDER.slice(7)}`);
export const plainFlag = ({ protocol }: URL): string => (protocol === 'http:' ? '-plaintext ' : '');

const rustStreams = {
  grpc: {
    uses: 'SubscribeRequest, SubscribeRequestFilterSlots',
    request: `SubscribeRequest {
        slots: HashMap::from([("all".to_string(), SubscribeRequestFilterSlots::default())]),
        ..Default::default()
    }`,
    call: 'subscribe_with_request',
  },
  fs: {
    uses: 'SubscribeDeshredRequest, SubscribeRequestFilterDeshredTransactions',
    request: `SubscribeDeshredRequest {
        deshred_transactions: HashMap::from([(
            "all".to_string(),
            SubscribeRequestFilterDeshredTransactions { vote: Some(false), ..Default::default() },
        )]),
        ..Default::default()
    }`,
    call: 'subscribe_deshred_with_request',
  },
} as const;

function rustStream(url: URL, secret: string, product: 'grpc' | 'fs'): string {
  const { uses, request, call } = rustStreams[product];
  const isPlain = url.protocol === 'http:';
  const tls = isPlain ? '' : '\n        .tls_config(ClientTlsConfig::new().with_native_roots())?';
  return `// cargo add yellowstone-grpc-client yellowstone-grpc-proto futures
// cargo add tokio --features macros,rt-multi-thread
use futures::StreamExt;
use std::collections::HashMap;
use yellowstone_grpc_client::${isPlain ? 'GeyserGrpcClient' : '{ClientTlsConfig, GeyserGrpcClient}'};
use yellowstone_grpc_proto::prelude::{${uses}};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut client = GeyserGrpcClient::build_from_shared("${url.origin}")?
        .x_token(Some("${secret}"))?${tls}
        .connect()
        .await?;
    let request = ${request};
    // Kept by name: requests go through the sink, and "_" would drop it.
    let (_sink, mut stream) = client.${call}(Some(request)).await?;
    while let Some(update) = stream.next().await {
        println!("{:?}", update?);
    }
    Ok(())
}`;
}

export function streamSnippets(urls: Urls, secret: string, product: 'grpc' | 'fs'): readonly CodeSnippet[] {
  const url = streamUrl(urls);
  const { request, method, client } = streams[product];
  return [
    {
      id: 'grpcurl',
      label: 'grpcurl',
      text: `grpcurl ${plainFlag(url)}-H 'x-token: ${secret}' \\
  -d '${request}' ${url.host} ${method}`,
    },
    {
      id: 'yellowstone',
      label: 'TypeScript (Yellowstone)',
      text: `// npm i @triton-one/yellowstone-grpc; save it as a module (.mjs).
// TypeScript takes the package's types with "moduleResolution": "bundler".
import Client from '@triton-one/yellowstone-grpc';

const client = new Client('${url.origin}', '${secret}', {});
await client.connect();
const stream = await client.subscribe${product === 'fs' ? 'Deshred' : ''}();
stream.on('data', (update) => console.log(update));
stream.write(${client});`,
    },
    {
      id: 'rust',
      label: 'Rust',
      text: rustStream(url, secret, product),
    },
  ];
}

export const snippetsFor = (
  product: KeyJson['product'],
  urls: Urls,
  secret: string,
): readonly CodeSnippet[] =>
  product === 'rpc' ? rpcSnippets(urls, secret) : streamSnippets(urls, secret, product);

export const streamTest = (urls: Urls, secret: string): string => {
  const url = streamUrl(urls);
  return `grpcurl ${plainFlag(url)}-H 'x-token: ${secret}' ${url.host} geyser.Geyser/GetVersion`;
};

export const airdropCall = (urls: Urls): string =>
  curlRpc(
    urls,
    '<API_KEY>',
    rpcBody('requestAirdrop', '["83astBRguLMdt2h5U1Tpdq5tjFoJ6noeGwaY3mDLVcri",1000000000]'),
  );

export function envFile(product: KeyJson['product'], urls: Urls, secret: string): string {
  if (product === 'rpc')
    return `SOLWAY_API_KEY=${secret}\nSOLWAY_RPC_URL=${urls.http}/v1/rpc\nSOLWAY_WS_URL=${urls.ws}/v1/ws\n`;
  const name = product === 'grpc' ? 'SOLWAY_GRPC_KEY' : 'SOLWAY_FS_KEY';
  return `${name}=${secret}\nSOLWAY_GRPC_URL=${urls.grpc ?? ''}\n`;
}

export const firstCallBody = rpcBody('getHealth');

export const firstCall = (urls: Urls): string => curlRpc(urls, '<API_KEY>', firstCallBody);
