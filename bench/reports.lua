-- The load: every request reports the state of a device, one device after another. BENCH_BODY holds what is reported,
-- with a placeholder of a serial's length in it and the version that is known, so that the request is put together once.
-- Of a hundred devices BENCH_CHANGED report another version each time, and the others always the known one.
local run = os.getenv('BENCH_RUN')
local fleet = os.getenv('BENCH_FLEET')
local devices = tonumber(os.getenv('BENCH_DEVICES'))
local changed = tonumber(os.getenv('BENCH_CHANGED'))
-- The version that every device has reported.
local known = os.getenv('BENCH_VERSION')

local threads = 0
function setup(thread)
  thread:set('id', threads)
  threads = threads + 1
end

-- A prime, so that every device has its turn, and devices that are neighbours in the table do not report one after the
-- other.
local stride = 7919
local head, middle, tail
local count = 0

function init()
  wrk.headers['Content-Type'] = 'application/json'
  wrk.headers['Authorization'] = 'Bearer ' .. os.getenv('BENCH_TOKEN')
  local whole = wrk.format('POST', nil, nil, os.getenv('BENCH_BODY'))
  local serial = os.getenv('BENCH_PLACEHOLDER')
  local serialAt, versionAt = whole:find(serial, 1, true), whole:find(known, 1, true)
  head = whole:sub(1, serialAt - 1)
  middle = whole:sub(serialAt + #serial, versionAt - 1)
  tail = whole:sub(versionAt + #known)
end

function request()
  local device = (2 * count + id) * stride % devices
  count = count + 1
  local version = device % 100 < changed and string.format('%s%x%07x', run, id, count) or known
  return head .. string.format('%s%08x', fleet, device) .. middle .. version .. tail
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\nRESULT {"requests":%d,"microseconds":%d,"status":%d,"broken":%d,"p50":%d,"p99":%d}\n',
    summary.requests, summary.duration, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50), latency:percentile(99)))
end
