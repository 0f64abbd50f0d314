import { type FormEvent, useId } from 'react';
import { Button } from '../../ui/button.tsx';

const SIGNATURE = '[1-9A-HJ-NP-Za-km-z]{64,88}';

export function SignatureSearch({
  value,
  onSearch,
}: {
  value: string | undefined;
  onSearch: (signature: string | undefined) => void;
}) {
  const id = useId();
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget).get('signature') ?? '').trim();
    onSearch(text === '' ? undefined : text);
  };
  return (
    <search>
      <form className="signature-search" onSubmit={submit} key={value ?? ''}>
        <label htmlFor={id} className="visually-hidden">
          Signature
        </label>
        <input
          id={id}
          name="signature"
          className="input mono"
          type="text"
          defaultValue={value ?? ''}
          placeholder="Transaction signature"
          pattern={SIGNATURE}
          title="A base58 signature, 64 to 88 characters"
          autoComplete="off"
          spellCheck={false}
        />
        <Button type="submit" icon="search">
          Search{' '}
        </Button>
        {value === undefined ? null : <Button onClick={() => onSearch(undefined)}>Clear</Button>}
      </form>
    </search>
  );
}
