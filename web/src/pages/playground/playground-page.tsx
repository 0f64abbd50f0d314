import { useEffect, useRef, useState } from 'react';
import { messageOf } from '../../api.ts';
import { useFilters } from '../../filters.ts';
import { formatNumberOf } from '../../format.ts';
import { callRest, callRpc, type GatewayResponse, rpcBody } from '../../gateway-call.ts';
import { playgroundTokenFor } from '../../playground-token.ts';
import type { Product } from '../../product-names.ts';
import { useCall } from '../../queries.ts';
import { useFrameSearch } from '../../range.ts';
import { Page } from '../../shell/page.tsx';
import { useSession } from '../../shell/session.tsx';
import { Button } from '../../ui/button.tsx';
import { Field, FormError } from '../../ui/field.tsx';
import { Panel } from '../../ui/panel.tsx';
import { SelectField } from '../../ui/select-field.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Choice } from '../../ui/tabs.tsx';
import { openGrpcStream } from './grpc-stream.ts';
import { KeySelect } from './key-select.tsx';
import { idleStream, LiveStream, type StreamSnapshot } from './live-stream.ts';
import { initialText, type Method, readRequest, takesArray, type ValidRequest } from './request.ts';
import { RequestSnippets } from './request-snippets.tsx';
import { ResponseView } from './response-view.tsx';
import { StreamView } from './stream-view.tsx';
import { openSubscription } from './web-socket-stream.ts';
import './playground.css';

type Kind = Method['kind'];

const interfaces: Readonly<Record<Kind, Readonly<{ label: string; first: string; product: Product }>>> = {
  rpc: { label: 'JSON-RPC', first: 'getBalance', product: 'rpc' },
  rest: { label: 'REST', first: 'wallet/balance', product: 'rpc' },
  websocket: { label: 'WebSocket', first: 'slotSubscribe', product: 'rpc' },
  grpc: { label: 'gRPC', first: 'Subscribe', product: 'grpc' },
};

export function PlaygroundPage() {
  const methods = useCall('GET /methods', {});
  return (
    <Page title="Playground" question="Send a request and see the response, latency, and cost.">
      <FormError problem={methods.error} />
      {methods.data === undefined ? (
        methods.error === null && <Skeleton height="l" />
      ) : (
        <Playground methods={methods.data.methods} />
      )}
    </Page>
  );
}

/** Links of the docs name a method and its parameters in the URL. */
function Playground({ methods }: { methods: readonly Method[] }) {
  const [{ method: named, params }, change] = useFilters(['method', 'params']);
  const frame = useFrameSearch();
  const { service } = useSession();
  const [network, setNetwork] = useState(service.network);
  const [keys, setKeys] = useState<Readonly<Partial<Record<Product, string | null>>>>({});
  const fallback = methods.find(({ name }) => name === interfaces.rpc.first);
  const method = methods.find(({ name }) => name === named) ?? fallback;
  if (method === undefined) return <p className="muted">No methods available.</p>;
  const kinds = (Object.keys(interfaces) as Kind[]).filter((kind) =>
    methods.some((one) => one.kind === kind),
  );
  const product = method.name === 'SubscribeDeshred' ? 'fs' : interfaces[method.kind].product;
  const choose = (name: string): void => change({ method: name, params: undefined });
  return (
    <>
      <Choice
        label="Interface"
        options={kinds.map((kind) => ({ value: kind, label: interfaces[kind].label }))}
        value={method.kind}
        onChange={(kind) => choose(interfaces[kind].first)}
      />
      <Run
        key={`${method.name} ${params}`}
        method={method}
        params={params}
        methods={methods.filter(({ kind }) => kind === method.kind)}
        onMethod={choose}
        product={product}
        network={network}
        onNetwork={setNetwork}
        chosenKey={keys[product] ?? frame.key ?? null}
        onKey={(key) => setKeys({ ...keys, [product]: key })}
      />
    </>
  );
}

function MethodSelect({
  methods,
  chosen,
  onChoose,
}: {
  methods: readonly Method[];
  chosen: Method;
  onChoose: (name: string) => void;
}) {
  return (
    <Field
      label={chosen.kind === 'rest' ? 'Endpoint' : 'Method'}
      name="method"
      hint={`${formatNumberOf(chosen.credits, 'credit')} per request`}
    >
      {(field) => (
        <select
          {...field}
          className="select"
          value={chosen.name}
          onChange={(event) => onChoose(event.target.value)}
        >
          {methods.map(({ name, kind, path }) => (
            <option key={name} value={name}>
              {kind === 'rest' ? path : name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

const isStream = ({ kind }: Method): boolean => kind === 'websocket' || kind === 'grpc';

const noResponse = (thrown: unknown): GatewayResponse => ({
  status: 0,
  ms: 0,
  text: messageOf(thrown),
  bytes: 0,
  limits: [],
});

function Run({
  method,
  params,
  methods,
  onMethod,
  product,
  network,
  onNetwork,
  chosenKey: key,
  onKey,
}: {
  method: Method;
  params: string | undefined;
  methods: readonly Method[];
  onMethod: (name: string) => void;
  product: Product;
  network: string;
  onNetwork: (network: string) => void;
  chosenKey: string | null;
  onKey: (key: string | null) => void;
}) {
  const { customer, service, can } = useSession();
  const [text, setText] = useState(() => params ?? initialText(method, service.network));
  const [response, setResponse] = useState<GatewayResponse | null>(null);
  const [snapshot, setSnapshot] = useState<StreamSnapshot>(idleStream);
  const [isBusy, setIsBusy] = useState(false);
  const stream = useRef<LiveStream | null>(null);
  useEffect(() => () => stream.current?.close(''), []);
  // Subscriptions use the default network; REST requests set `network` themselves.
  const networks = method.kind === 'rpc' ? service.networks : [service.network];
  const read = readRequest(method, text);
  const request =
    read.isValid && read.kind === 'rpc' && network !== service.network ? { ...read, network } : read;
  const isLive = snapshot.state === 'opening' || snapshot.state === 'open';

  const call = async (valid: ValidRequest, credential: string): Promise<void> => {
    if (valid.kind === 'rpc')
      setResponse(await callRpc(credential, rpcBody(valid.method, valid.params), valid.network));
    else if (valid.kind === 'rest') setResponse(await callRest(credential, valid.request));
    else {
      const opened = new LiveStream(setSnapshot);
      stream.current = opened;
      if (valid.kind === 'websocket') openSubscription(opened, credential, valid.method, valid.params);
      else await openGrpcStream(opened, credential, valid.path, valid.body);
    }
  };
  const run = async (): Promise<void> => {
    if (!request.isValid || key === null) return;
    setIsBusy(true);
    try {
      await call(request, await playgroundTokenFor(customer.id, key));
    } catch (thrown) {
      if (isStream(method))
        setSnapshot({ ...idleStream, state: 'closed', note: messageOf(thrown), isFault: true });
      else setResponse(noResponse(thrown));
    }
    setIsBusy(false);
  };

  return (
    <div className="columns columns-2">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <MethodSelect methods={methods} chosen={method} onChoose={onMethod} />
        <KeySelect product={product} chosen={key} onChoose={onKey} />
        {method.kind === 'rest' ? null : (
          <SelectField
            label="Network"
            name="network"
            value={networks.includes(network) ? network : service.network}
            options={networks.map((one) => [one, one] as const)}
            onChange={onNetwork}
          />
        )}
        <Field
          label={takesArray(method) ? 'Parameters' : 'Request'}
          name="params"
          hint={takesArray(method) ? 'A JSON array.' : 'A JSON object with the fields of the request.'}
        >
          {(field) => (
            <textarea
              {...field}
              className="textarea mono params"
              rows={Math.min(16, Math.max(5, text.split('\n').length + 1))}
              spellCheck={false}
              aria-invalid={!request.isValid}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </Field>
        <p className="field-fault" aria-live="polite">
          {request.isValid ? '' : request.fault}
        </p>
        <div className="row">
          {isLive ? (
            <Button icon="pause" onClick={() => stream.current?.close('Unsubscribed.')}>
              Unsubscribe
            </Button>
          ) : (
            <Button
              kind="primary"
              type="submit"
              icon="play"
              busy={isBusy}
              disabled={!request.isValid || key === null || !can('developer')}
            >
              {isStream(method) ? 'Subscribe' : 'Run'}
            </Button>
          )}
          <Button kind="quiet" onClick={() => setText(initialText(method, service.network))}>
            Reset
          </Button>
        </div>
        {request.isValid ? <RequestSnippets request={request} /> : null}
      </form>
      <Panel title={isStream(method) ? 'Messages' : 'Response'}>
        {isStream(method) ? (
          <StreamView snapshot={snapshot} name={method.name} />
        ) : response === null ? (
          <p className="muted">Send a request to see the response.</p>
        ) : (
          <ResponseView name={method.name} response={response} credits={method.credits} />
        )}
      </Panel>
    </div>
  );
}
