import { useState } from 'react';
import { formatMs } from '../../format.ts';
import { callRpc, type GatewayResponse, refusalOf } from '../../gateway-call.ts';
import { rememberKey } from '../../key-secrets.ts';
import { useSession } from '../../shell/session.tsx';
import { airdropCall, envFile, snippetsFor, streamTest } from '../../snippets.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { downloadText } from '../../ui/csv.ts';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Tick } from '../../ui/field.tsx';
import { Snippet } from '../../ui/snippet.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import type { NewKey } from './create-dialog.tsx';

/** The one time that a key is shown. It closes when it was said to be kept. */
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
    <Dialog title={`The key “${key.name}”`} size="l" canClose={isSaved} onClose={onClose}>
      <div className="stack">
        <p>This is the only time that it is shown. Nobody can look it up later; a lost key is rotated.</p>
        <output className="secret mono" aria-label="The key">
          {secret}
        </output>
        <div className="row">
          <CopyButton kind="primary" text={secret} label="Copy the key" />
          <Button icon="download" onClick={file}>
            Download .env
          </Button>
          {product === 'rpc' ? <TestButton secret={secret} /> : null}
        </div>
        {product === 'rpc' ? null : (
          <section className="stack-tight" aria-label="How to test it">
            <p>
              Test it from a shell: a browser cannot call gRPC. A key that works is answered with a version.
            </p>
            <Snippet text={streamTest(service.urls, secret)} label="the test call" />
          </section>
        )}
        <Tabs
          label="Programs that use the key"
          tabs={snippetsFor(product, service.urls, secret).map(({ id, label, text }) => ({
            id,
            label,
            panel: () => <Snippet text={text} label={`the ${label} program`} />,
          }))}
        />
        {product === 'fs' ? <NoTransactionsHint /> : null}
        <DialogActions>
          <Tick checked={isSaved} onChange={setIsSaved}>
            I have stored it
          </Tick>
          <Button
            kind="primary"
            disabled={!isSaved}
            onClick={() => {
              rememberKey(secret);
              onClose();
            }}
          >
            Done
          </Button>
        </DialogActions>
      </div>
    </Dialog>
  );
}

/** What makes the programs of a shred key say something, where nobody else sends transactions. */
function NoTransactionsHint() {
  const { service } = useSession();
  return (
    <section className="stack-tight" aria-label="When it stays silent">
      <p>
        On the embedded ledger nobody sends transactions but you: the stream stays silent until you have one
        run, with a key for JSON-RPC in place of &lt;API_KEY&gt;.
      </p>
      <Snippet text={airdropCall(service.urls)} label="the airdrop" />
    </section>
  );
}

const HEALTH = '{"jsonrpc":"2.0","id":1,"method":"getHealth"}';

/** How long a new key may take until every gateway knows it, with some to spare; and how often it is tried. */
const IN_FORCE_MS = 3_000;
const TRY_MS = 250;

/** Calls getHealth with the key; as long as it may be too new to be known, again. */
async function healthWith(secret: string): Promise<GatewayResponse> {
  const until = performance.now() + IN_FORCE_MS;
  for (;;) {
    const answer = await callRpc(secret, HEALTH);
    if (refusalOf(answer) === null || performance.now() >= until) return answer;
    await new Promise((resolve) => setTimeout(resolve, TRY_MS));
  }
}

/** Calls getHealth with the key, from here. */
function TestButton({ secret }: { secret: string }) {
  const [result, setResult] = useState<{ text: string; isGood: boolean } | null>(null);
  const [isBusy, setIsBusy] = useState(false);

  const test = async (): Promise<void> => {
    setIsBusy(true);
    const answer = await healthWith(secret);
    const refusal = refusalOf(answer);
    setResult({
      isGood: refusal === null,
      text: refusal ?? `It works: getHealth answered in ${formatMs(answer.ms)}.`,
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
