import { useState } from 'react';
import { formatMs } from '../../format.ts';
import { callRpc, errorCodeOf, type GatewayResponse, rejectionOf } from '../../gateway-call.ts';
import { useSession } from '../../shell/session.tsx';
import { airdropCall, envFile, SAMPLE_METHOD, snippetsFor, streamTest } from '../../snippets.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { downloadText } from '../../ui/csv.ts';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Checkbox } from '../../ui/field.tsx';
import { Snippet } from '../../ui/snippet.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import type { NewKey } from './create-dialog.tsx';
import './keys.css';

export function SecretDialog({
  created: { secret, key },
  onClose,
}: {
  created: NewKey;
  onClose: () => void;
}) {
  const { service } = useSession();
  const [isSaved, setIsSaved] = useState(false);
  const { product } = key;
  const file = (): void => downloadText('.env', 'text/plain', envFile(product, service.urls, secret));

  return (
    <Dialog title={`API key “${key.name}”`} size="l" canClose={isSaved} onClose={onClose}>
      <div className="stack">
        <p>Copy this key now. It will not be shown again. If you lose it, rotate the key.</p>
        <output className="secret mono" aria-label="API key">
          {secret}
        </output>
        <div className="row">
          <CopyButton kind="primary" text={secret} label="Copy key" />
          <Button icon="download" onClick={file}>
            Download .env
          </Button>
          {product === 'rpc' ? <TestButton secret={secret} /> : null}
        </div>
        {product === 'rpc' ? null : (
          <section className="stack-tight" aria-label="Test the key">
            <p>
              Browsers cannot call gRPC, so run this command in a terminal. A valid key returns the server
              version.
            </p>
            <Snippet text={streamTest(service.urls, secret)} label="test command" />
          </section>
        )}
        <Tabs
          label="Code samples"
          tabs={snippetsFor(product, service.urls, secret).map(({ id, label, text }) => ({
            id,
            label,
            panel: () => <Snippet text={text} label={`${label} sample`} />,
          }))}
        />
        {product === 'rpc' && !allows(key.methods, SAMPLE_METHOD) ? (
          <p className="muted">
            The samples call {SAMPLE_METHOD}, which the rules of this key do not allow. Replace it with an
            allowed method.
          </p>
        ) : null}
        {product === 'fs' ? <NoTransactionsHint /> : null}
        <DialogActions>
          <Checkbox checked={isSaved} onChange={setIsSaved}>
            I have saved this key
          </Checkbox>
          <Button kind="primary" disabled={!isSaved} onClick={onClose}>
            Done
          </Button>
        </DialogActions>
      </div>
    </Dialog>
  );
}

/** @param methods - the rule of a key; null: all methods. */
const allows = (methods: readonly string[] | null, method: string): boolean =>
  methods === null ||
  methods.some((rule) => rule === method || (rule.endsWith('*') && method.startsWith(rule.slice(0, -1))));

function NoTransactionsHint() {
  const { service } = useSession();
  return (
    <section className="stack-tight" aria-label="If the stream is empty">
      <p>
        The embedded ledger has no traffic of its own. Send a transaction to see it in the stream; replace
        &lt;API_KEY&gt; with an RPC key.
      </p>
      <Snippet text={airdropCall(service.urls)} label="airdrop command" />
    </section>
  );
}

const HEALTH = '{"jsonrpc":"2.0","id":1,"method":"getHealth"}';

/** Time for a new key to reach all gateways, and the retry interval. */
const PROPAGATION_MS = 3_000;
const RETRY_MS = 250;

async function callGetHealth(secret: string): Promise<GatewayResponse> {
  const until = performance.now() + PROPAGATION_MS;
  for (;;) {
    const response = await callRpc(secret, HEALTH);
    if (errorCodeOf(response) !== 'INVALID_KEY' || performance.now() >= until) return response;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

function TestButton({ secret }: { secret: string }) {
  const [result, setResult] = useState<{ text: string; isGood: boolean } | null>(null);
  const [isBusy, setIsBusy] = useState(false);

  const test = async (): Promise<void> => {
    setIsBusy(true);
    const response = await callGetHealth(secret);
    const rejection = rejectionOf(response);
    const isForbidden = errorCodeOf(response) === 'METHOD_FORBIDDEN';
    setResult({
      isGood: rejection === null || isForbidden,
      text: isForbidden
        ? 'Key is valid. Its rules do not allow getHealth, which this test calls.'
        : (rejection ?? `Key is valid: getHealth responded in ${formatMs(response.ms)}.`),
    });
    setIsBusy(false);
  };

  return (
    <>
      <Button icon="play" busy={isBusy} onClick={() => void test()}>
        Test
      </Button>
      <span role="status" className={result === null ? '' : result.isGood ? 'words-good' : 'words-bad'}>
        {result?.text}
      </span>
    </>
  );
}
