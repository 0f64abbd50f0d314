import { type ReactNode, useState } from 'react';
import { messageOf } from '../../api.ts';
import { callRpc, type GatewayResponse, rejectionOf } from '../../gateway-call.ts';
import { playgroundTokenFor } from '../../playground-token.ts';
import { useCall, useChange } from '../../queries.ts';
import { useSession } from '../../shell/session.tsx';
import { firstCall, firstCallBody } from '../../snippets.ts';
import { recall, remember } from '../../theme.ts';
import { Button } from '../../ui/button.tsx';
import { FormError } from '../../ui/field.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Snippet } from '../../ui/snippet.tsx';
import { useToast } from '../../ui/toast.tsx';
import type { NewKey } from '../keys/create-dialog.tsx';
import { SecretDialog } from '../keys/secret-dialog.tsx';
import { ResponseView } from '../playground/response-view.tsx';
import { AddDialog } from '../upstreams/add-dialog.tsx';

const REFETCH_MS = 5_000;

/** Steps that the user has skipped, per customer. */
function useSkipped(): [skipped: readonly string[], change: (skipped: readonly string[]) => void] {
  const { customer } = useSession();
  const storedAs = `solway.setup.${customer.id}`;
  const [skipped, setSkipped] = useState<readonly string[]>(() => recall(storedAs)?.split(',') ?? []);
  const change = (next: readonly string[]): void => {
    setSkipped(next);
    remember(storedAs, next.length === 0 ? null : next.join(','));
  };
  return [skipped, change];
}

/** Guides to the first successful request. `onCalled` keeps the guide visible until `onDone`. */
export function GettingStarted({ onCalled, onDone }: { onCalled: () => void; onDone: () => void }) {
  const { user, can } = useSession();
  const [skipped, setSkipped] = useSkipped();
  const [hasSucceeded, setHasSucceeded] = useState(false);
  const skippable = (step: string) => ({
    isSkipped: skipped.includes(step),
    onSkip: () => setSkipped([...skipped, step]),
  });
  return (
    <section className="begin" aria-label="Getting started">
      {skipped.includes('all') ? (
        <p className="row-apart">
          Setup is incomplete.
          <Button size="s" onClick={() => setSkipped([])}>
            Resume setup
          </Button>
        </p>
      ) : (
        <>
          <ol>
            <Step isDone>You created an account.</Step>
            {user.isOperator ? <NodesStep {...skippable('nodes')} /> : null}
            {can('developer') ? <KeyStep {...skippable('key')} /> : null}
            <CallStep onCalled={onCalled} onSucceeded={() => setHasSucceeded(true)} onDone={onDone} />
          </ol>
          {hasSucceeded ? null : (
            <Button size="s" kind="quiet" onClick={() => setSkipped(['all'])}>
              Set up later
            </Button>
          )}
        </>
      )}
    </section>
  );
}

type Skippable = Readonly<{ isSkipped: boolean; onSkip: () => void }>;

function NodesStep({ isSkipped, onSkip }: Skippable) {
  const { service } = useSession();
  const upstreams = useCall('GET /upstreams', {}, { refetchMs: REFETCH_MS });
  const [isAdding, setIsAdding] = useState(false);
  const nodes = upstreams.data?.nodes ?? [];
  const healthy = nodes.filter(({ state }) => state === 'healthy');
  if (service.mode === 'development')
    return (
      <Step isDone>
        The embedded ledger serves requests. To serve a Solana network, list your nodes in the configuration
        file.{' '}
        <a href="/docs/tutorial/protect-your-node" target="_blank" rel="noopener">
          Use your own nodes
        </a>
      </Step>
    );
  return (
    <Step isDone={healthy.length > 0 || isSkipped} onSkip={onSkip}>
      {healthy.length > 0
        ? `${healthy.map(({ name }) => name).join(', ')}: healthy.`
        : 'Add a Solana node. The connection is tested first.'}
      <div className="row">
        <Button size="s" icon="plus" onClick={() => setIsAdding(true)}>
          Add node
        </Button>
        <a href="/docs/reference/nodes" target="_blank" rel="noopener">
          About nodes
        </a>
      </div>
      {isAdding ? <AddDialog onDone={() => setIsAdding(false)} /> : null}
    </Step>
  );
}

/** The first usable RPC key; null without one, undefined while it is unknown. */
function useRpcKey(): string | null | undefined {
  const { customer } = useSession();
  const keys = useCall(
    'GET /customers/{customer}/keys',
    { path: { customer: customer.id }, query: { product: 'rpc' } },
    { refetchMs: REFETCH_MS },
  );
  if (keys.data === undefined) return undefined;
  return keys.data.items.find(({ state, isPublic }) => state === 'active' && !isPublic)?.id ?? null;
}

function KeyStep({ isSkipped, onSkip }: Skippable) {
  const { customer } = useSession();
  const key = useRpcKey();
  const create = useChange('POST /customers/{customer}/keys');
  const [created, setCreated] = useState<NewKey | null>(null);
  return (
    <Step isDone={key != null || isSkipped} onSkip={onSkip}>
      {key == null ? 'Create an API key. It is shown once, with code samples.' : 'You have an API key.'}
      {key === null ? (
        <div className="row">
          <Button
            size="s"
            icon="key"
            busy={create.isPending}
            onClick={() =>
              create.mutate(
                { path: { customer: customer.id }, body: { product: 'rpc', name: 'First key' } },
                { onSuccess: setCreated },
              )
            }
          >
            Create API key
          </Button>
        </div>
      ) : null}
      <FormError problem={create.error} />
      {created === null ? null : <SecretDialog created={created} onClose={() => setCreated(null)} />}
    </Step>
  );
}

function CallStep({
  onCalled,
  onSucceeded,
  onDone,
}: {
  onCalled: () => void;
  onSucceeded: () => void;
  onDone: () => void;
}) {
  const { customer, service, can } = useSession();
  const key = useRpcKey();
  const toast = useToast();
  const [response, setResponse] = useState<GatewayResponse | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const hasSucceeded = response !== null && rejectionOf(response) === null;

  const send = async (): Promise<void> => {
    if (key == null) return;
    setIsBusy(true);
    onCalled();
    try {
      const received = await callRpc(await playgroundTokenFor(customer.id, key), firstCallBody);
      setResponse(received);
      if (rejectionOf(received) === null) onSucceeded();
    } catch (thrown) {
      toast(messageOf(thrown), 'bad');
    }
    setIsBusy(false);
  };
  return (
    <Step isDone={hasSucceeded}>
      {hasSucceeded ? 'You sent a request.' : 'Send a request. It appears here within seconds.'}
      <Snippet text={firstCall(service.urls)} label="first request" />
      {response === null ? null : <ResponseView name="getHealth" response={response} credits={null} />}
      <div className="row">
        {can('developer') ? (
          <Button size="s" icon="play" busy={isBusy} disabled={key == null} onClick={() => void send()}>
            Send from this page
          </Button>
        ) : null}
        {hasSucceeded ? (
          <Button size="s" kind="primary" onClick={onDone}>
            Done
          </Button>
        ) : null}
      </div>
    </Step>
  );
}

const Step = ({
  isDone,
  onSkip,
  children,
}: {
  isDone: boolean;
  onSkip?: () => void;
  children: ReactNode;
}) => (
  <li className={isDone ? 'begin-done' : ''}>
    <span className="begin-mark">{isDone ? <Icon name="check" /> : null}</span>
    <div className="stack-tight">
      <span className="visually-hidden">{isDone ? 'Done:' : 'To do:'}</span>
      {children}
      {isDone || onSkip === undefined ? null : (
        <div>
          <Button size="s" kind="quiet" onClick={onSkip}>
            Skip
          </Button>
        </div>
      )}
    </div>
  </li>
);
