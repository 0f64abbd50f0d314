import { type GatewayRequest, rpcBody, rpcPath } from './gateway-call.ts';
import type { ValidRequest } from './pages/playground/request.ts';
import {
  type CodeSnippet,
  curlRpc,
  plainFlag,
  quoted,
  streamSnippets,
  streamUrl,
  type Urls,
} from './snippets.ts';

type GrpcRequest = Extract<ValidRequest, { kind: 'grpc' }>;

/** JSON as a Python literal. */
const pythonOf = (json: string): string =>
  json.replaceAll(/"(?:\\.|[^"\\])*"|true|false|null/g, (part) =>
    part.startsWith('"') ? part : part === 'null' ? 'None' : `${part[0]?.toUpperCase()}${part.slice(1)}`,
  );

/** A raw string whose text may contain quotes. */
const rustRaw = (text: string): string => `r#"${text}"#`;
const goRaw = (text: string): string => `\`${text.replaceAll('`', '` + "`" + `')}\``;

function goHttp(
  url: string,
  verb: string,
  body: string | null,
  headers: Readonly<Record<string, string>>,
): string {
  const lines = Object.entries(headers).map(([name, value]) => `\trequest.Header.Set("${name}", "${value}")`);
  return `package main

import (
	"fmt"
	"io"
	"net/http"${body === null ? '' : '\n\t"strings"'}
)

func main() {
	request, err := http.NewRequest("${verb}", "${url}", ${body === null ? 'nil' : `strings.NewReader(${goRaw(body)})`})
	if err != nil {
		panic(err)
	}
${lines.join('\n')}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	fmt.Println(string(body), err)
}`;
}

function rpcRequestSnippets(
  urls: Urls,
  secret: string,
  method: string,
  params: string,
  network?: string,
): readonly CodeSnippet[] {
  const url = `${urls.http}${rpcPath(network)}`;
  const json = rpcBody(method, params);
  return [
    { id: 'curl', label: 'curl', text: curlRpc(urls, secret, json, network) },
    {
      id: 'kit',
      label: 'TypeScript (kit)',
      text: `import { createDefaultRpcTransport } from '@solana/kit';

const transport = createDefaultRpcTransport({
  url: '${url}',
  headers: { authorization: 'Bearer ${secret}' },
});
const payload = { jsonrpc: '2.0', id: 1, method: '${method}', params: ${params} };
console.log(await transport<unknown>({ payload }));`,
    },
    {
      id: 'web3',
      label: 'web3.js',
      text: `import { Connection } from '@solana/web3.js';

const connection = new Connection('${url}', {
  httpHeaders: { authorization: 'Bearer ${secret}' },
  disableRetryOnRateLimit: true,
});
// web3.js also has a typed method for most calls.
console.log(await (connection as any)._rpcRequest('${method}', ${params}));`,
    },
    {
      id: 'rust',
      label: 'Rust',
      text: `// cargo add solana-client serde_json
use serde_json::{json, Value};
use solana_client::{rpc_client::RpcClient, rpc_request::RpcRequest};

fn main() {
    let client = RpcClient::new("${url}${network === undefined ? '?' : '&'}api-key=${secret}".to_string());
    let request = RpcRequest::Custom { method: "${method}" };
    let result: Value = client.send(request, json!(${params})).unwrap();
    println!("{result}");
}`,
    },
    {
      id: 'python',
      label: 'Python',
      text: `# pip install httpx
import httpx

response = httpx.post(
    "${url}",
    headers={"Authorization": "Bearer ${secret}"},
    json={"jsonrpc": "2.0", "id": 1, "method": "${method}", "params": ${pythonOf(params)}},
)
print(response.json())`,
    },
    {
      id: 'go',
      label: 'Go',
      text: goHttp(url, 'POST', json, {
        Authorization: `Bearer ${secret}`,
        'Content-Type': 'application/json',
      }),
    },
  ];
}

function restSnippets(
  urls: Urls,
  secret: string,
  { verb, path, body }: GatewayRequest,
): readonly CodeSnippet[] {
  const url = `${urls.http}${path}`;
  const headers = {
    'x-api-key': secret,
    ...(body === null ? {} : { 'Content-Type': 'application/json' }),
  };
  const rustBody =
    body === null
      ? ''
      : `
        .header("content-type", "application/json")
        .body(${rustRaw(body)})`;
  const python = Object.entries(headers).map(([name, value]) => `"${name}": "${value}"`);
  return [
    {
      id: 'curl',
      label: 'curl',
      text: `curl '${url}' \\
  -H 'x-api-key: ${secret}'${body === null ? '' : ` \\\n  -H 'Content-Type: application/json' \\\n  -d '${quoted(body)}'`}`,
    },
    {
      id: 'typescript',
      label: 'TypeScript',
      text: `const response = await fetch('${url}', {
  method: '${verb}',
  headers: ${JSON.stringify(headers)},${body === null ? '' : `\n  body: JSON.stringify(${body}),`}
});
console.log(await response.json());`,
    },
    {
      id: 'rust',
      label: 'Rust',
      text: `// cargo add reqwest --features blocking
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = reqwest::blocking::Client::new();
    let response = client
        .${verb.toLowerCase()}("${url}")
        .header("x-api-key", "${secret}")${rustBody}
        .send()?;
    println!("{}", response.text()?);
    Ok(())
}`,
    },
    {
      id: 'python',
      label: 'Python',
      text: `# pip install httpx
import httpx

response = httpx.request(
    "${verb}",
    "${url}",
    headers={${python.join(', ')}},${body === null ? '' : `\n    json=${pythonOf(body)},`}
)
print(response.json())`,
    },
    { id: 'go', label: 'Go', text: goHttp(url, verb, body, headers) },
  ];
}

function subscriptionSnippets(
  urls: Urls,
  secret: string,
  method: string,
  params: string,
): readonly CodeSnippet[] {
  const url = `${urls.ws}/v1/ws?api-key=${secret}`;
  const json = rpcBody(method, params);
  return [
    { id: 'wscat', label: 'wscat', text: `wscat -c '${url}' -w 10 -x '${quoted(json)}'` },
    {
      id: 'typescript',
      label: 'TypeScript',
      text: `const socket = new WebSocket('${url}');
socket.onopen = () => socket.send(JSON.stringify(${json}));
socket.onmessage = ({ data }) => console.log(data);`,
    },
    {
      id: 'rust',
      label: 'Rust',
      text: `// cargo add tungstenite --features native-tls
use tungstenite::{connect, Message};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut socket, _) = connect("${url}")?;
    socket.send(Message::text(${rustRaw(json)}))?;
    loop {
        println!("{}", socket.read()?);
    }
}`,
    },
    {
      id: 'python',
      label: 'Python',
      text: `# pip install websockets
import json
from websockets.sync.client import connect

with connect("${url}") as socket:
    socket.send(json.dumps(${pythonOf(json)}))
    for message in socket:
        print(message)`,
    },
    {
      id: 'go',
      label: 'Go',
      text: `package main

import (
	"fmt"

	"github.com/gorilla/websocket"
)

func main() {
	socket, _, err := websocket.DefaultDialer.Dial("${url}", nil)
	if err != nil {
		panic(err)
	}
	defer socket.Close()
	if err := socket.WriteMessage(websocket.TextMessage, []byte(${goRaw(json)})); err != nil {
		panic(err)
	}
	for {
		_, message, err := socket.ReadMessage()
		if err != nil {
			panic(err)
		}
		fmt.Println(string(message))
	}
}`,
    },
  ];
}

/** The same stream over gRPC, for programs. */
function grpcSnippets(
  urls: Urls,
  secret: string,
  { path, body: request }: GrpcRequest,
): readonly CodeSnippet[] {
  const url = streamUrl(urls);
  const method = path.split('/').slice(-2).join('/');
  const command = `grpcurl ${plainFlag(url)}-H 'x-token: ${secret}' \\
  -d '${quoted(request)}' ${url.host} ${method}`;
  const others = streamSnippets(urls, secret, method.endsWith('Deshred') ? 'fs' : 'grpc').slice(1);
  return [{ id: 'grpcurl', label: 'grpcurl', text: command }, ...others];
}

/** The request of the playground as code. */
export function requestSnippets(urls: Urls, secret: string, request: ValidRequest): readonly CodeSnippet[] {
  if (request.kind === 'rpc')
    return rpcRequestSnippets(urls, secret, request.method, request.params, request.network);
  if (request.kind === 'websocket') return subscriptionSnippets(urls, secret, request.method, request.params);
  return request.kind === 'rest'
    ? restSnippets(urls, secret, request.request)
    : grpcSnippets(urls, secret, request);
}
