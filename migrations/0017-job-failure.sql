-- Why a job failed, beside the sentence: JSON text, so that readers make the sentence in their language. Null where the
-- version before has written the sentence alone.
alter table import add column failure text;
