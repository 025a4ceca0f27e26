-- The load: every request registers a device whose serial no other request has. BENCH_BODY holds the body with a
-- placeholder of a serial's length in it, so that the request is put together once and only the serial changes.
local placeholder = os.getenv('BENCH_PLACEHOLDER')
local run = os.getenv('BENCH_RUN')
local scattered = os.getenv('BENCH_SERIALS') == 'scattered'

local threads = 0
function setup(thread)
  thread:set('id', threads)
  threads = threads + 1
end

local head, tail, mark
local count = 0
local state = 0

function init()
  wrk.headers['Content-Type'] = 'application/json'
  wrk.headers['Authorization'] = 'Bearer ' .. os.getenv('BENCH_TOKEN')
  local whole = wrk.format('POST', nil, nil, os.getenv('BENCH_BODY'))
  local at = whole:find(placeholder, 1, true)
  head = whole:sub(1, at - 1)
  tail = whole:sub(at + #placeholder)
  mark = string.format('%02x%s', id, run)
  state = (tonumber(run, 16) + id * 2654435769) % 4294967296
end

-- Scattered serials walk through all 2^32 numbers without repeating one, in an order that jumps about.
function request()
  if scattered then
    state = (state * 1103525 + 12345) % 4294967296
    return head .. string.format('SN-%08x', state) .. mark .. tail
  end
  count = count + 1
  return head .. 'SN-' .. mark .. string.format('%08x', count) .. tail
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\nRESULT {"requests":%d,"microseconds":%d,"status":%d,"broken":%d,"p50":%d,"p99":%d}\n',
    summary.requests, summary.duration, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50), latency:percentile(99)))
end
