import { type ReactNode, useMemo, useState } from 'react';
import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { formatCount } from '../../format.ts';
import { callRest, callRpc, type GatewayResponse } from '../../gateway-call.ts';
import { rememberKey } from '../../key-secrets.ts';
import { useCall } from '../../queries.ts';
import { Page } from '../../shell/page.tsx';
import { useSession } from '../../shell/session.tsx';
import { ANY_ADDRESS } from '../../snippets.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Field, FormError } from '../../ui/field.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { KeyField } from './key-field.tsx';
import { asCurl, initialText, type Request, readParams } from './request.ts';
import { ResponseView } from './response-view.tsx';
import './playground.css';

export type Method = RouteOutput<'GET /methods'>['methods'][number];

const FIRST_METHOD = 'getBalance';

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

function Playground({ methods }: { methods: readonly Method[] }) {
  const [name, setName] = useState(FIRST_METHOD);
  const method = methods.find((one) => one.name === name) ?? methods[0];
  const [text, setText] = useState(() => (method === undefined ? '[]' : initialText(method)));
  const [secret, setSecret] = useState('');
  if (method === undefined) return <p className="muted">No methods available.</p>;

  const choose = (chosen: string): void => {
    setName(chosen);
    const next = methods.find((one) => one.name === chosen);
    if (next !== undefined) setText(initialText(next));
  };
  return (
    <Run method={method} text={text} onText={setText} secret={secret}>
      <MethodSelect methods={methods} chosen={method} onChoose={choose} />
      <KeyField secret={secret} onChange={setSecret} />
    </Run>
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
  const groups = [
    ['JSON-RPC', methods.filter(({ kind }) => kind === 'rpc')],
    ['REST', methods.filter(({ kind }) => kind === 'rest')],
  ] as const;
  return (
    <Field
      label="Method"
      name="method"
      hint={`${formatCount(chosen.credits)} ${chosen.credits === 1 ? 'credit' : 'credits'} per request`}
    >
      {(field) => (
        <select
          {...field}
          className="select"
          value={chosen.name}
          onChange={(event) => onChoose(event.target.value)}
        >
          {groups.map(([title, group]) => (
            <optgroup key={title} label={title}>
              {group.map((method) => (
                <option key={method.name} value={method.name}>
                  {method.path ?? method.name}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
      )}
    </Field>
  );
}

function Run({
  method,
  text,
  onText,
  secret,
  children,
}: {
  method: Method;
  text: string;
  onText: (text: string) => void;
  secret: string;
  children: ReactNode;
}) {
  const { service } = useSession();
  const [response, setResponse] = useState<Readonly<{ of: string; response: GatewayResponse }> | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const request = useMemo<Request>(() => readParams(method, text), [method, text]);

  const run = async (): Promise<void> => {
    if (!request.isGood) return;
    setIsBusy(true);
    rememberKey(secret);
    const received = await (request.kind === 'rpc'
      ? callRpc(secret, request.json)
      : callRest(secret, request.path, request.query));
    setResponse({ of: method.name, response: received });
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
        {children}
        <Field
          label={method.kind === 'rpc' ? 'Parameters' : 'Query parameters'}
          name="params"
          hint={method.kind === 'rpc' ? 'A JSON array.' : 'A JSON object with the query parameters.'}
        >
          {(field) => (
            <textarea
              {...field}
              className="textarea mono params"
              rows={Math.min(16, Math.max(5, text.split('\n').length + 1))}
              spellCheck={false}
              aria-invalid={!request.isGood}
              value={text}
              onChange={(event) => onText(event.target.value)}
            />
          )}
        </Field>
        <p className="field-fault" aria-live="polite">
          {request.isGood ? '' : request.fault}
        </p>
        <div className="row">
          <Button
            kind="primary"
            type="submit"
            icon="play"
            busy={isBusy}
            disabled={!request.isGood || secret === ''}
          >
            Run
          </Button>
          {request.isGood ? (
            <CopyButton
              text={() => asCurl(service.urls, secret === '' ? '<API_KEY>' : secret, request)}
              label="Copy as curl"
            />
          ) : null}
          <Button kind="quiet" onClick={() => onText(initialText(method))}>
            Reset
          </Button>
          {secret === '' ? <span className="muted">Enter an API key to run.</span> : null}
        </div>
      </form>
      <Panel title="Response">
        {response === null ? (
          <p className="muted">
            Send a request to see the response. Example address: <code>{ANY_ADDRESS}</code>
          </p>
        ) : (
          <ResponseView
            name={response.of}
            response={response.response}
            credits={method.name === response.of ? method.credits : null}
          />
        )}
      </Panel>
    </div>
  );
}
