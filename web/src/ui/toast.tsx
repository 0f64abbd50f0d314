import { createContext, type ReactNode, useCallback, useContext, useMemo, useRef, useState } from 'react';
import { messageOf } from '../api.ts';
import { Button, IconButton } from './button.tsx';

type Undo = () => void;
type Toast = Readonly<{ id: number; text: string; tone: 'good' | 'bad'; undo: Undo | undefined }>;
type ShowToast = (text: string, tone?: Toast['tone'], undo?: Undo) => void;

const VISIBLE_MS = 6_000;
const TOASTS_MAX = 4;

const ToastContext = createContext<ShowToast>(() => {});

export const useToast = (): ShowToast => useContext(ToastContext);

/** Callbacks of a change that show `text` if it succeeds, otherwise the error. */
export function useChangeToasts() {
  const toast = useToast();
  return <Result,>(text: string | ((result: Result) => string)) => ({
    onSuccess: (result: Result) => toast(typeof text === 'string' ? text : text(result)),
    onError: (problem: Error) => toast(messageOf(problem), 'bad'),
  });
}

export function ToastArea({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const last = useRef(0);

  const drop = useCallback((id: number) => setToasts((all) => all.filter((toast) => toast.id !== id)), []);
  const showToast = useCallback<ShowToast>(
    (text, tone = 'good', undo) => {
      last.current += 1;
      const id = last.current;
      // Replaces an identical message.
      const others = (all: readonly Toast[]) => all.filter((toast) => toast.text !== text);
      setToasts((all) => [...others(all).slice(1 - TOASTS_MAX), { id, text, tone, undo }]);
      // Errors stay until dismissed.
      if (tone === 'good') setTimeout(() => drop(id), VISIBLE_MS);
    },
    [drop],
  );
  const value = useMemo(() => showToast, [showToast]);

  return (
    <ToastContext value={value}>
      {children}
      <div className="toasts" role="status" aria-live="polite">
        {toasts.map((toast) => (
          <div key={toast.id} className={`toast toast-${toast.tone}`}>
            <span>{toast.text}</span>
            {toast.undo === undefined ? null : (
              <Button
                size="s"
                onClick={() => {
                  drop(toast.id);
                  toast.undo?.();
                }}
              >
                Undo
              </Button>
            )}
            <IconButton icon="close" label="Dismiss" size="s" onClick={() => drop(toast.id)} />
          </div>
        ))}
      </div>
    </ToastContext>
  );
}
