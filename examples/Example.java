import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Token, site, device, state, feed, and a receiver of callbacks: {@code java Example.java}, from Java 17 on. FORECOURT_URL,
 * APP_ID and APP_SECRET say where and who; with PORT set it receives callbacks there until it has one. Answers are read by
 * patterns here, so that nothing is to be installed: a program takes a JSON library.
 */
public class Example {
  static final String URL = System.getenv().getOrDefault("FORECOURT_URL", "http://127.0.0.1:8080");
  static final String APP_ID = System.getenv("APP_ID");
  static final HttpClient HTTP = HttpClient.newHttpClient();
  static String token = "";
  static volatile String secret = "";

  static String send(HttpRequest.Builder request) throws Exception {
    request.header("Content-Type", "application/json");
    if (!token.isEmpty()) request.header("Authorization", "Bearer " + token);
    for (int attempt = 1; ; attempt++) {
      var answer = HTTP.send(request.build(), BodyHandlers.ofString());
      // Under its key a write has one effect, however often it is sent.
      if ((answer.statusCode() != 429 && answer.statusCode() != 503) || attempt == 5) return answer.body();
      Thread.sleep(1000 * Long.parseLong(answer.headers().firstValue("Retry-After").orElse("1")));
    }
  }

  static String post(String path, String key, String body) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(URL + path)).POST(HttpRequest.BodyPublishers.ofString(body));
    String answer = send(key == null ? request : request.header("Idempotency-Key", key));
    if (!answer.startsWith("{\"code\":0,")) throw new IllegalStateException(answer);
    return answer;
  }

  static String member(String name, String answer) {
    Matcher matcher = Pattern.compile("\"" + name + "\":\"?([^\",}]*)").matcher(answer);
    if (!matcher.find()) throw new IllegalStateException(answer);
    return matcher.group(1);
  }

  public static void main(String[] args) throws Exception {
    token = member("accessToken", post("/api/auth/v1/oauth/token", null, """
        {"grant_type":"client_credentials","client_id":"%s","client_secret":"%s"}"""
        .formatted(APP_ID, System.getenv("APP_SECRET"))));

    String place = """
        "provinceCode":"360000","cityCode":"360100","districtCode":"360102","coordinates":"115.899918,28.676493\"""";
    String site = post("/api/charging/v1/siteManageThird/save", "example-site-java-" + APP_ID, """
        {"appId":"%s","siteName":"Riverside charging park","contacts":"Wang Fang","contactsPhone":"13800000000",
         "customerServicePhone":"4000000000","businessWeekDay":"Monday to Sunday","businessStartTime":"00:00:00",
         "businessClosingTime":"24:00:00","provinceName":"江西省","cityName":"南昌市","districtName":"东湖区",%s}"""
        .formatted(APP_ID, place));
    System.out.println("site " + member("id", site));

    String device = "JAVA-" + APP_ID;
    post("/api/device/entrance/guard/create", "example-device-" + APP_ID, """
        {"appId":"%s","deviceNo":"%s","deviceName":"East gate barrier",%s}""".formatted(APP_ID, device, place));
    System.out.println("device " + device);
    post("/api/device/entrance/guard/state", null, """
        {"deviceNo":"%s","runStatus":1,"batteryEnergy":"87%%"}""".formatted(device));

    // In a program: remember the last id, and ask again with it as afterId.
    var feed = URI.create(URL + "/api/event/v1/event/page?afterId=0&pageSize=100");
    var types = Pattern.compile("\"type\":\"([^\"]+)\"").matcher(send(HttpRequest.newBuilder(feed)));
    while (types.find()) System.out.println("event " + types.group(1));

    if (System.getenv("PORT") != null) receive(Integer.parseInt(System.getenv("PORT")));
  }

  static boolean isSigned(String id, String timestamp, String signatures, byte[] body) throws Exception {
    if (id == null || timestamp == null || signatures == null || !timestamp.matches("\\d{1,12}")) return false;
    if (Math.abs(System.currentTimeMillis() / 1000 - Long.parseLong(timestamp)) > 300) return false;
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(Base64.getDecoder().decode(secret.replaceFirst("^whsec_", "")), "HmacSHA256"));
    mac.update((id + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8));
    byte[] expected = ("v1," + Base64.getEncoder().encodeToString(mac.doFinal(body))).getBytes(StandardCharsets.UTF_8);
    for (String signature : signatures.split(" ")) {
      if (MessageDigest.isEqual(expected, signature.getBytes(StandardCharsets.UTF_8))) return true;
    }
    return false;
  }

  static void receive(int port) throws Exception {
    var received = new CountDownLatch(1);
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
    server.createContext("/", exchange -> {
      try (exchange) {
        byte[] body = exchange.getRequestBody().readAllBytes();
        var headers = exchange.getRequestHeaders();
        boolean signed = isSigned(headers.getFirst("webhook-id"), headers.getFirst("webhook-timestamp"),
            headers.getFirst("webhook-signature"), body);
        exchange.sendResponseHeaders(signed ? 204 : 401, -1);
        if (!signed) return;
        System.out.println("callback " + member("type", new String(body, StandardCharsets.UTF_8)));
        received.countDown();
      } catch (Exception error) {
        throw new java.io.IOException(error);
      }
    });
    server.start();
    post("/api/charging/v1/thirdPartyConfig/save", null, """
        {"appId":"%s","operatorName":"Greenway charging","callbackUrl":"http://127.0.0.1:%d/","callbackEvents":["site.created"]}"""
        .formatted(APP_ID, port));
    // The secret is shown when it is made; a new one is good from now on.
    secret = member("callbackSecret", post("/api/charging/v1/thirdPartyConfig/rotateSecret", null,
        "{\"appId\":\"" + APP_ID + "\"}"));
    post("/api/event/v1/delivery/test", null, "{\"appId\":\"" + APP_ID + "\"}");
    received.await(30, TimeUnit.SECONDS);
    server.stop(0);
  }
}
